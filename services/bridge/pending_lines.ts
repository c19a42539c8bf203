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

/** Most bytes of pending lines, of all channels together. */
const MAX_BYTES = 16 * 1024 * 1024;

/** What a pending line takes beside its text, in bytes. */
const LINE_BYTES = 500;

/** The lines that wait to be stored: of each channel in the order of hearing. */
export class PendingLines {
  /** By the channel's folded name. */
  readonly #queues = new Map<string, PendingLine[]>();
  /** Those of all channels, the oldest first. */
  readonly #all = new Set<PendingLine>();
  #bytes = 0;

  /**
   * Adds a line.
   *
   * @returns the lines that had to make room: the oldest of all channels
   */
  add(pending: PendingLine): readonly PendingLine[] {
    const { channel } = pending.line;
    const queue = this.#queues.get(channel) ?? [];
    this.#queues.set(channel, queue);
    queue.push(pending);
    this.#all.add(pending);
    this.#bytes += bytesOf(pending);
    const dropped: PendingLine[] = [];
    for (const oldest of this.#all) {
      if (this.#bytes <= MAX_BYTES) break;
      this.remove(oldest);
      dropped.push(oldest);
    }
    return dropped;
  }

  /** Whether a line is still pending. */
  has(pending: PendingLine): boolean {
    return this.#all.has(pending);
  }

  /** @returns false if the line was not pending any more */
  remove(pending: PendingLine): boolean {
    if (!this.#all.delete(pending)) return false;
    this.#bytes -= bytesOf(pending);
    const { channel } = pending.line;
    const queue = this.#queues.get(channel) ?? [];
    queue.splice(queue.indexOf(pending), 1);
    if (queue.length === 0) this.#queues.delete(channel);
    return true;
  }

  /** The lines of a channel. */
  of(channel: string): readonly PendingLine[] {
    return this.#queues.get(channel) ?? [];
  }

  /** The lines of each channel. */
  queues(): readonly (readonly PendingLine[])[] {
    return [...this.#queues.values()];
  }
}

function bytesOf({ line: { message: { text } } }: PendingLine): number {
  return LINE_BYTES + 2 * text.length;
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
