import { type Artifact, shownText } from "../artifact/mod.ts";
import { fromJulianDay } from "../codec/mod.ts";
import { readTimelineCheckins } from "./checkins.ts";
import type { TimelineCheckin } from "./shapes.ts";
import type { Reader } from "./reader.ts";
import type {
  Received,
  ReceivedArtifact,
  ReceivedPlace,
  RepositoryPlace,
} from "./received_shapes.ts";
import { isFirstChange, isTicketClosed, readTicketRef, ticketClosing } from "./tickets.ts";

/** Default number of artifacts in one answer. */
const DEFAULT_LIMIT = 500;

/** Artifacts by which an answer may pass its limit, so that it ends with a whole receipt. */
const MAX_OVERRUN = 20_000;

export interface ReceivedOptions {
  /** Where the previous call ended; null for the beginning. */
  readonly after: ReceivedPlace | null;
  /**
   * Artifacts of one answer, 500 where absent: the answer goes on to the end of the receipt, so that
   * what one write left comes at once. 0 asks for the place alone.
   */
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
    const bytes = bytesOf(reader);
    if (limit === 0 || (after !== null && after.rcvid >= end.rcvid)) {
      return { artifacts: [], place: end, more: false, bytes };
    }
    const rows = selectRows(reader, after, limit + MAX_OVERRUN + 1);
    const count = after !== null && after.phantoms > 0 ? rows.length : wholeReceipts(rows, limit);
    const isWhole = count === rows.length;
    const page = rows.slice(0, count);
    const checkins = new Map(
      readTimelineCheckins(reader, page.map(({ rid }) => rid)).map((one) => [one.uuid, one]),
    );
    // The newest first: each version is stored as a delta of the next.
    const artifacts = page.toReversed().flatMap((row) => {
      reader.check();
      return describe(reader, row, checkins);
    }).reverse();
    const place = isWhole
      ? end
      : { ...end, rcvid: after?.rcvid ?? 0, rid: page.at(-1)?.rid ?? 0, phantoms: 0 };
    return { artifacts, place, more: !isWhole, bytes };
  });
}

interface ReceivedRow {
  readonly rid: number;
  readonly rcvid: number | null;
  readonly mark: string | null;
  /** `event.type`; see `EventType`. */
  readonly type: string;
  readonly user: string | null;
  /** Julian day of the artifact. */
  readonly day: number;
}

/**
 * How many rows make an answer: as many as the limit allows, and the rest of the last one's receipt. A
 * receipt that is far too long for one answer is cut.
 */
function wholeReceipts(rows: readonly ReceivedRow[], limit: number): number {
  const receipt = rows[limit - 1]?.rcvid;
  let count = Math.min(limit, rows.length);
  while (count < rows.length && rows[count]?.rcvid === receipt) count++;
  return Math.min(count, limit + MAX_OVERRUN);
}

/** Bytes in use, also those that are still in the write-ahead log. */
function bytesOf({ repository: { db } }: Reader): number {
  const number = (pragma: string) => db.value<number>(`PRAGMA ${pragma}`) ?? 0;
  return (number("page_count") - number("freelist_count")) * number("page_size");
}

/** The end of what was received until now. */
function placeOf({ repository: { db, config } }: Reader): RepositoryPlace {
  return {
    rcvid: db.value<number>("SELECT coalesce(max(rcvid),0) FROM rcvfrom") ?? 0,
    rid: db.value<number>("SELECT coalesce(max(rid),0) FROM blob") ?? 0,
    phantoms: db.value<number>("SELECT count(*) FROM phantom") ?? 0,
    projectCode: config.get("project-code") ?? "",
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
): ReceivedRow[] {
  const { rcvid, rid, phantoms } = after ?? { rcvid: 0, rid: 0, phantoms: 0 };
  const from = `SELECT rid, blob.rcvid AS rcvid, nonce AS mark, event.type, event.user,
    coalesce(omtime,event.mtime) AS day
    FROM blob JOIN event ON objid=rid LEFT JOIN rcvfrom ON rcvfrom.rcvid=blob.rcvid WHERE`;
  if (phantoms === 0) {
    return db.rows(`${from} rid>? ORDER BY rid LIMIT ?`, rid, limit);
  }
  return db.rows(`${from} rid>? OR blob.rcvid>? ORDER BY rid`, rid, rcvid);
}

type Checkins = ReadonlyMap<string, TimelineCheckin>;

/** A member of a union without the fields that all members have. */
type Specific<Member> = Member extends unknown
  ? Omit<Member, "uuid" | "user" | "date" | "timestamp" | "receipt" | "mark">
  : never;

/** What an artifact is, who wrote it, and its own date in Unix milliseconds. */
type Described =
  & { readonly user: string | null; readonly date: number }
  & Specific<ReceivedArtifact>;

function describe(reader: Reader, row: ReceivedRow, checkins: Checkins): ReceivedArtifact[] {
  const { rid, rcvid, mark, type } = row;
  const uuid = reader.repository.store.hashOf(rid);
  if (uuid === undefined) return [];
  const described = type === "ci"
    ? describeCheckin(row, checkins.get(uuid))
    : describeOther(reader, rid);
  if (described === null) return [];
  return [{
    ...described,
    uuid,
    user: shownText(described.user ?? "", "name"),
    timestamp: new Date(described.date).toISOString(),
    receipt: rcvid ?? 0,
    mark,
  }];
}

/** The timeline tells it all: a push may bring thousands of check-ins, each with a list of all files. */
function describeCheckin(
  { user, day }: ReceivedRow,
  { comment, branch, parents }: Partial<TimelineCheckin> = {},
): Described {
  return {
    kind: "checkin",
    user,
    date: fromJulianDay(day),
    comment: comment ?? "",
    branch: branch ?? "",
    parents: parents ?? [],
  };
}

function describeOther(reader: Reader, rid: number): Described | null {
  const artifact = reader.repository.artifact(rid);
  if (artifact === null || artifact.kind === "cluster" || artifact.kind === "manifest") return null;
  const { user, date } = artifact;
  return { ...specificsOf(reader, rid, artifact), user, date };
}

function specificsOf(
  reader: Reader,
  rid: number,
  artifact: Exclude<Artifact, { kind: "cluster" | "manifest" }>,
): Specific<ReceivedArtifact> {
  switch (artifact.kind) {
    case "ticket": {
      const { ticket, fields } = artifact;
      const { title = "", status = "" } = readTicketRef(reader, ticket) ?? {};
      const is_closed = isTicketClosed(reader, ticket);
      const { column, statuses } = ticketClosing(reader);
      const closes = fields.some(({ name, value }) => name === column && statuses.includes(value));
      const names = fields.map(({ name }) => name);
      const is_new = isFirstChange(reader, ticket, rid);
      return { kind: "ticket", ticket, title, status, is_closed, closes, is_new, fields: names };
    }
    case "wiki":
      return { kind: "wiki", name: artifact.title, is_deleted: artifact.text === "" };
    case "technote":
      return { kind: "technote", name: artifact.id };
    case "forum":
      return { kind: "forum", thread: artifact.root };
    case "attachment":
      return { kind: "attachment", name: artifact.name, target: artifact.target };
    case "control":
      return {
        kind: "tag",
        tags: artifact.tags.map(({ sign, name, target, value }) => ({ sign, name, target, value })),
      };
  }
}
