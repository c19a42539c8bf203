import type { NewLine } from "./stored_lines.ts";

/**
 * Who should store a heard line. `self`: this node, whose bridge said it. `shared`: any node, because
 * all of them know as much about what this one's bridge said. `anybody`: any node, because others said
 * it, or another bridge of which this one knows as much. `other`: the node that knows more about it,
 * as long as that runs. Of any node, the leader is the first.
 */
export type LineOwner = "self" | "shared" | "anybody" | "other";

/** A line that the bridge has heard and that is not in the log. */
export interface PendingLine {
  readonly line: NewLine;
  readonly owner: LineOwner;
  /** When this node stores it, in Unix milliseconds. */
  readonly dueAt: number;
  state: "waiting" | "storing" | "failed";
  readonly stored: () => void;
  readonly failed: (error: Error) => void;
}

/** When the lines of a channel are to be stored that wait for no other line. */
export function dueTimesOf(queue: readonly PendingLine[], now: number): number[] {
  const times: number[] = [];
  let isBlocked = false;
  for (const pending of queue) {
    if (isBlocked && !isOwn(pending)) continue;
    isBlocked ||= isLeft(pending) && pending.dueAt > now;
    // What failed is tried again with the next look at the other nodes.
    if (pending.state === "waiting") times.push(pending.dueAt);
  }
  return times;
}

/** Whether a line is left to one other node. */
export function isLeft({ owner }: PendingLine): boolean {
  return owner === "other";
}

/** Whether this node's bridge said a line, and somebody waits until all nodes have it. */
export function isOwn({ owner }: Pick<PendingLine, "owner">): boolean {
  return owner === "self" || owner === "shared";
}

/** The lines of a channel to store now, in order: up to the last one whose time has come. */
export function dueOf(queue: readonly PendingLine[], now: number): PendingLine[] {
  const passing: PendingLine[] = [];
  let due = 0;
  let isBlocked = false;
  for (const pending of queue) {
    const isDue = pending.dueAt <= now;
    if (pending.state === "storing" || (isBlocked && !isOwn(pending))) continue;
    if (isLeft(pending) && !isDue) {
      isBlocked = true;
      continue;
    }
    passing.push(pending);
    if (isDue) due = passing.length;
  }
  return passing.slice(0, due);
}
