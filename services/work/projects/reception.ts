import type { Change, NewEvent } from "../../engines/database/mod.ts";
import type { Origin } from "../../engines/events/mod.ts";
import type { ReceivedArtifact } from "../../engines/fossil/mod.ts";
import { foreignOrigin } from "./events.ts";
import { markOfWrite, type Pending, PUSH_MARK } from "./intentions.ts";
import type { Project } from "./records.ts";
import { newUlid } from "../../kernel/ulid.ts";

/** New artifacts in a repository, before their events are appended. */
export interface Reception {
  readonly project: Project;
  /** Oldest first. */
  readonly artifacts: readonly ReceivedArtifact[];
  /** The origin of an artifact: who caused it. */
  originOf(artifact: ReceivedArtifact): Origin;
  /** Whether a write of this service left an artifact, and not another program. */
  isOwn(artifact: ReceivedArtifact): boolean;
  /** The events of the writes that are settled in the same step, and those of earlier observers. */
  readonly settled: readonly NewEvent[];
  /** Unix milliseconds. */
  readonly now: number;
}

/** What follows in the app database from new artifacts in a repository. */
export interface ReceptionChange extends Change {
  /** The numbers of the tickets that are new or changed, by their whole ids: their events have them. */
  readonly ticketNumbers?: ReadonlyMap<string, number>;
}

export type ReceptionObserver = (
  reception: Reception,
) => ReceptionChange | Promise<ReceptionChange>;

/** A write of this service, which its mark tells apart. */
export type OwnWrite = Pick<Pending, "stamp" | "origin">;

/**
 * Who caused the artifacts of a reception.
 *
 * @param own the writes that this process is making
 */
export function causesOf(
  own: readonly OwnWrite[],
  pending: readonly OwnWrite[],
): Pick<Reception, "originOf" | "isOwn"> {
  const writes = new Map<string | null, OwnWrite>();
  for (const write of [...pending, ...own]) writes.set(write.stamp.mark, write);
  const pushers = new Map<string | null, Origin | null>();
  const pusherOf = ({ mark }: ReceivedArtifact) => {
    const known = pushers.get(mark);
    if (known !== undefined) return known;
    const pusher = originIn(mark);
    pushers.set(mark, pusher);
    return pusher;
  };
  const writerOf = ({ mark }: ReceivedArtifact) => writes.get(markOfWrite(mark));
  return {
    // What a push brings is not this service's, whatever the push intends.
    isOwn: (artifact) => writerOf(artifact) !== undefined && pusherOf(artifact) === null,
    originOf: (artifact) =>
      writerOf(artifact)?.origin ?? pusherOf(artifact) ?? foreignOrigin(artifact.user),
  };
}

/**
 * The mark of a push: the repository keeps it with what the push brings. So the events name the
 * pusher even if the process ends before it appends them. No two marks are the same.
 *
 * @param origin of the push; null if nobody is known to have caused it
 * @param now Unix milliseconds
 * @returns null if there is nothing to keep
 */
export function markOf(
  origin: Origin | null,
  { now, isFromGit = false }: { readonly now: number; readonly isFromGit?: boolean },
): string | null {
  if (origin === null && !isFromGit) return null;
  const { actor, actorId, address, cause }: Partial<Origin> = origin ?? {};
  const program = isFromGit ? GIT : undefined;
  return PUSH_MARK +
    JSON.stringify({ actor, actorId, address, cause, program, push: newUlid(now) });
}

/** What the mark of a push of Git names as its program. */
const GIT = "git";

/** Whether a mark is that of a push of Git, or of a pull from Git. */
export function isGitMark(mark: string | null): boolean {
  return contentOf(mark)["program"] === GIT;
}

/** The origin that a mark holds; null for the marks of other programs. */
function originIn(mark: string | null): Origin | null {
  const { actor, actorId, address, cause } = contentOf(mark);
  if (typeof actor !== "string") return null;
  if (!isTextOrNull(actorId) || !isTextOrNull(address) || !isTextOrNull(cause)) return null;
  return { actor, actorId, address, cause };
}

/** What the mark of a push holds; nothing for the marks of other programs. */
function contentOf(mark: string | null): Readonly<Record<string, unknown>> {
  if (mark === null || !mark.startsWith(PUSH_MARK)) return {};
  try {
    return JSON.parse(mark.slice(PUSH_MARK.length)) ?? {};
  } catch {
    return {};
  }
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || typeof value === "string";
}
