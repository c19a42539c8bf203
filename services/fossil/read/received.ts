import type { Artifact } from "../artifact/mod.ts";
import { readTimelineCheckins } from "./checkins.ts";
import type { Reader } from "./reader.ts";
import type { Received, ReceivedArtifact, ReceivedPlace } from "./shapes.ts";
import { isTicketClosed, readTicketRef } from "./tickets.ts";

/** Artifacts of one answer where the caller does not say. */
const DEFAULT_LIMIT = 500;

export interface ReceivedOptions {
  /** Where the last look ended; null for the beginning. */
  readonly after: ReceivedPlace | null;
  /** Artifacts of one answer: 500 where absent. 0 asks for the place alone. */
  readonly limit?: number;
}

/**
 * What the repository received since a place, oldest first, whichever program wrote it: everything
 * that stands in the timeline, also what is older by its own date.
 *
 * A look that finds nothing new reads one row.
 */
export function readReceived(reader: Reader, options: ReceivedOptions): Received {
  const { after, limit = DEFAULT_LIMIT } = options;
  return reader.read(() => {
    const end = placeOf(reader);
    if (limit === 0 || (after !== null && after.rcvid >= end.rcvid)) {
      return { artifacts: [], place: end, more: false };
    }
    const rows = selectRows(reader, after, limit + 1);
    const isWhole = rows.length <= limit || (after !== null && after.phantoms > 0);
    const page = isWhole ? rows : rows.slice(0, limit);
    const artifacts = page.flatMap(({ rid }) => describe(reader, rid));
    const place = isWhole
      ? end
      : { rcvid: after?.rcvid ?? 0, rid: page.at(-1)?.rid ?? 0, phantoms: 0 };
    return { artifacts, place, more: !isWhole };
  });
}

/** The end of what was received until now. */
function placeOf({ repository: { db } }: Reader): ReceivedPlace {
  return {
    rcvid: db.value<number>("SELECT coalesce(max(rcvid),0) FROM rcvfrom") ?? 0,
    rid: db.value<number>("SELECT coalesce(max(rid),0) FROM blob") ?? 0,
    phantoms: db.value<number>("SELECT count(*) FROM phantom") ?? 0,
  };
}

/**
 * Rows have rising numbers, but for content that was awaited: its row is as old as its name. So a
 * repository that waited for content is looked through whole, and its answer has no limit.
 */
function selectRows(
  { repository: { db } }: Reader,
  after: ReceivedPlace | null,
  limit: number,
): { rid: number }[] {
  const { rcvid, rid, phantoms } = after ?? { rcvid: 0, rid: 0, phantoms: 0 };
  const from = "SELECT rid FROM blob JOIN event ON objid=rid WHERE";
  if (phantoms === 0) {
    return db.rows(`${from} rid>? ORDER BY rid LIMIT ?`, rid, limit);
  }
  return db.rows(`${from} rid>? OR rcvid>? ORDER BY rid`, rid, rcvid);
}

function describe(reader: Reader, rid: number): ReceivedArtifact[] {
  const artifact = reader.repository.artifact(rid);
  const uuid = reader.repository.store.hashOf(rid);
  if (artifact === null || uuid === undefined || artifact.kind === "cluster") return [];
  const { date, user } = artifact;
  const common = { uuid, user: user ?? "", date, timestamp: new Date(date).toISOString() };
  return specifics(reader, rid, artifact).map((more): ReceivedArtifact => ({ ...common, ...more }));
}

/** A member of a union without the fields that all members have. */
type Specific<Member> = Member extends unknown
  ? Omit<Member, "uuid" | "user" | "date" | "timestamp">
  : never;

function specifics(
  reader: Reader,
  rid: number,
  artifact: Exclude<Artifact, { kind: "cluster" }>,
): Specific<ReceivedArtifact>[] {
  switch (artifact.kind) {
    case "manifest": {
      const [checkin] = readTimelineCheckins(reader, [rid]);
      const { comment = "", branch = "", parents = [] } = checkin ?? {};
      return [{ kind: "checkin", comment, branch, parents }];
    }
    case "ticket": {
      const { ticket, fields } = artifact;
      const { title = "", status = "" } = readTicketRef(reader, ticket) ?? {};
      const is_closed = isTicketClosed(reader, ticket);
      const names = fields.map(({ name }) => name);
      return [{ kind: "ticket", ticket, title, status, is_closed, fields: names }];
    }
    case "wiki":
      return [{ kind: "wiki", name: artifact.title, is_deleted: artifact.text === "" }];
    case "technote":
      return [{ kind: "technote", name: artifact.id }];
    case "forum":
      return [{ kind: "forum", thread: artifact.root }];
    case "attachment":
      return [{ kind: "attachment", name: artifact.name, target: artifact.target }];
    case "control":
      return [{
        kind: "tag",
        tags: artifact.tags.map(({ sign, name, target, value }) => ({ sign, name, target, value })),
      }];
  }
}
