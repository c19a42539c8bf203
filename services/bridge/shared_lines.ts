import { Unavailable } from "../errors.ts";
import type { Log } from "../log.ts";
import type { Scheduler } from "../scheduler.ts";
import type { Channel } from "./channel.ts";
import { LineCredits } from "./line_credits.ts";
import type { LineStore, NewLine, StoredLine } from "./stored_lines.ts";

/** How long a node that does not lead leaves a line to the leader, in milliseconds. */
const LEADER_MILLISECONDS = 50;

/** How long a line is left to the node whose bridge said it, of which this one knows as much. */
const PEER_MILLISECONDS = 250;

/** How long a line is left to the node that said it, or that heard it when it was new. */
const SPEAKER_MILLISECONDS = 3000;

/** Lines stored and read at once. */
const BATCH = 250;
const PAGE = 500;

/** Most lines of a channel that wait to be stored; beyond it, the oldest is dropped. */
const MAX_PENDING = 10_000;

/**
 * Who should store a heard line: this node, whose bridge said it; any node; the node whose bridge
 * said it, as long as it runs; or another node that also knows more about it.
 */
export type LineOwner = "self" | "anybody" | "peer" | "other";

interface PendingLine {
  readonly line: NewLine;
  readonly owner: LineOwner;
  /** When this node stores it, in Unix milliseconds. */
  readonly dueAt: number;
  /** Settles when all nodes have what this one is storing of it; null if it is not doing so. */
  confirmed: Promise<void> | null;
  hasFailed: boolean;
  readonly stored: () => void;
  readonly failed: (error: Error) => void;
}

interface Turn {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

export interface SharedLinesOptions {
  readonly store: LineStore;
  /** The place of the newest line, from where it reads on. */
  readonly seen: number;
  /** Whether this node is the first to store what all nodes hear. */
  readonly isLeading: () => boolean;
  /** Whether there are other nodes, which may not run. */
  readonly hasPeers: () => boolean;
  /** A channel that the bridge is in, was in or enters, by its folded name. */
  readonly find: (channel: string) => Channel | null;
  /** Called with each new line of a channel that is filled, in order. Must not throw. */
  readonly onLine: (channel: Channel, line: StoredLine) => void;
  /** Called with each earlier line of a channel that is being filled. Must not throw. */
  readonly onPast: (channel: Channel, line: StoredLine) => void;
  /** Messages kept for each channel. */
  readonly bufferSize: number;
  readonly scheduler: Scheduler;
  readonly log: Log;
}

/**
 * The lines of the channels of several nodes. Each node stores what its bridge hears, unless another
 * one was faster, and all read what is stored: the same lines in the same order, with the same ids
 * and timestamps, whenever a node began to listen. A node whose connection to IRC is lost goes on
 * reading. Nodes wait for each other's reads before they acknowledge a post, so a reader needs no
 * query.
 *
 * The lines of a channel are stored in the order in which the bridge heard them, except that its own
 * do not wait for those that are left to another node.
 */
export class SharedLines {
  readonly #options: SharedLinesOptions;
  /** By the channel's folded name, in the order of hearing. */
  readonly #pending = new Map<string, PendingLine[]>();
  readonly #credits: LineCredits;
  readonly #fills = new Set<Channel>();
  #reading: Promise<void> = Promise.resolve();
  /** The next read, if it has not begun. */
  #nextRead: Promise<void> | null = null;
  #seen: number;
  #requested: Turn | null = null;
  #isRunning = false;
  #cancelTimer: () => void = () => {};
  #closed = false;

  constructor(options: SharedLinesOptions) {
    this.#options = options;
    this.#seen = options.seen;
    this.#credits = new LineCredits(options.scheduler.now);
  }

  /**
   * Takes a line that the bridge has heard. Resolves when it is in the log of its channel; one of
   * this bridge's own also in those of all other nodes.
   *
   * @throws Unavailable if the database cannot be written; the line is stored later
   */
  hear(line: NewLine, owner: LineOwner): Promise<void> {
    if (this.#credits.spend(line)) {
      return owner === "self" ? this.#options.store.confirm() : Promise.resolve();
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    promise.catch(() => {});
    const dueAt = this.#dueAt(owner);
    const queue = this.#pending.get(line.channel) ?? [];
    this.#pending.set(line.channel, queue);
    queue.push({
      line,
      owner,
      dueAt,
      stored: resolve,
      failed: reject,
      confirmed: null,
      hasFailed: false,
    });
    if (queue.length > MAX_PENDING) queue.shift()?.failed(tooMany());
    this.#schedule();
    return promise;
  }

  /** Reads what other nodes have stored. They wait for it. */
  readOn(): Promise<void> {
    return this.#closed ? Promise.resolve() : this.#read();
  }

  /**
   * Reads what there is, unless the log of a channel has what a reader can know of it: all that is
   * acknowledged, and the message that it refers to.
   *
   * @param reference a timestamp or the id of a message
   * @throws Unavailable if the database cannot be used
   */
  async reach(channel: Channel | null, reference?: string): Promise<void> {
    if (channel?.isFilled) {
      if (reference === undefined) return;
      const microseconds = channel.log.microsecondsOf(reference) ?? Infinity;
      if (microseconds <= (channel.log.newest ?? 0)) return;
    }
    await this.refresh();
  }

  /**
   * Stores and reads what there is. What another node has acknowledged before this call is in the
   * logs when it resolves.
   *
   * @throws Unavailable if the database cannot be used
   */
  refresh(): Promise<void> {
    if (this.#closed) return Promise.reject(closed());
    this.#requested ??= newTurn();
    const { promise } = this.#requested;
    if (!this.#isRunning) void this.#run();
    return promise;
  }

  /** Does the same without a caller that waits. */
  wake(): void {
    this.refresh().catch(() => {});
  }

  /** Adds the earlier lines to the log of a channel, which gets the new ones from then on. */
  async fill(channel: Channel): Promise<void> {
    if (channel.isFilled) return;
    this.#fills.add(channel);
    await this.refresh();
  }

  /** Removes the lines of a message for all nodes. */
  async redact(channel: string, id: string): Promise<void> {
    await this.refresh();
    await this.#options.store.remove(channel, id);
  }

  /** Removes the oldest lines of channels that have many. */
  async trim(): Promise<void> {
    await this.#options.store.trim(this.#options.bufferSize);
  }

  /** Forgets which stored lines the lost connection would have brought. */
  linkLost(): void {
    this.#credits.clear();
  }

  close(): void {
    this.#closed = true;
    this.#cancelTimer();
  }

  #dueAt(owner: LineOwner): number {
    const { scheduler, isLeading, hasPeers } = this.#options;
    const now = scheduler.now();
    if (owner === "self" || !hasPeers()) return now;
    if (owner === "peer") return now + PEER_MILLISECONDS;
    if (owner === "other") return now + SPEAKER_MILLISECONDS;
    return isLeading() ? now : now + LEADER_MILLISECONDS;
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    for (let turn = this.#requested; turn !== null; turn = this.#requested) {
      this.#requested = null;
      try {
        await this.#take();
        turn.resolve();
      } catch (error) {
        turn.reject(error instanceof Unavailable ? error : unreadable());
      }
    }
    this.#isRunning = false;
    this.#schedule();
  }

  /** Stores the lines whose time has come, and reads all that are stored. */
  async #take(): Promise<void> {
    const { store, scheduler } = this.#options;
    const now = scheduler.now();
    const all = [...this.#pending.values()].flatMap((queue) => dueOf(queue, now));
    const due = all.slice(0, BATCH);
    if (all.length > BATCH) this.wake();
    if (due.length > 0) {
      const { stored, confirmed } = store.add(due.map(({ line }) => line), this.#seen);
      for (const [index, pending] of due.entries()) {
        const isOwn = pending.owner === "self";
        pending.confirmed = confirmed.then((added) =>
          isOwn && !added[index] ? store.confirm() : undefined
        );
        pending.confirmed.catch(() => {});
      }
      await stored.catch((error: unknown) => {
        for (const pending of due) {
          pending.confirmed = null;
          pending.hasFailed = true;
          pending.failed(error instanceof Error ? error : unreadable());
        }
        throw error;
      });
    }
    await this.#read();
    for (const pending of due) this.#settle(pending);
  }

  /** Reads what is stored when it is called. One read follows the other. */
  #read(): Promise<void> {
    return this.#nextRead ??= this.#reading = this.#reading.catch(() => {}).then(async () => {
      this.#nextRead = null;
      await this.#readPages();
      for (const channel of this.#fills) await this.#fill(channel);
    });
  }

  async #readPages(): Promise<void> {
    const { store, find, onLine } = this.#options;
    for (;;) {
      const lines = await store.after(this.#seen, PAGE);
      for (const line of lines) {
        this.#seen = line.seq;
        const channel = find(line.channel);
        if (channel?.isFilled) onLine(channel, line);
        const same = this.#sameAs(line);
        if (same === undefined) this.#credits.add(line);
        else this.#settle(same);
      }
      if (lines.length < PAGE) return;
    }
  }

  /** The line that a stored one stands for: of several, one that this node is storing. */
  #sameAs({ channel, mark }: StoredLine): PendingLine | undefined {
    const same = this.#pending.get(channel)?.filter(({ line }) => line.mark === mark);
    return same?.find(({ confirmed }) => confirmed !== null) ?? same?.[0];
  }

  async #fill(channel: Channel): Promise<void> {
    const { store, bufferSize, onPast } = this.#options;
    const lines = await store.newestOf(channel.key, this.#seen, bufferSize);
    for (const line of lines) onPast(channel, line);
    channel.isFilled = true;
    this.#fills.delete(channel);
  }

  /** A line is stored, by whichever node. */
  #settle(pending: PendingLine): void {
    const { line: { channel }, owner, confirmed, stored, failed } = pending;
    const queue = this.#pending.get(channel);
    const index = queue?.indexOf(pending) ?? -1;
    if (index < 0) return;
    queue?.splice(index, 1);
    if (queue?.length === 0) this.#pending.delete(channel);
    else this.#schedule();
    if (owner !== "self") return stored();
    (confirmed ?? this.#options.store.confirm()).then(stored, failed);
  }

  /** Sets the timer to the next time at which a line is to be stored. */
  #schedule(): void {
    this.#cancelTimer();
    const { scheduler } = this.#options;
    const now = scheduler.now();
    const queues = [...this.#pending.values()];
    const next = Math.min(...queues.flatMap((queue) => dueTimesOf(queue, now)));
    if (this.#closed || next === Infinity) return;
    if (next <= now) this.wake();
    else this.#cancelTimer = scheduler.after(next - now, () => this.wake());
  }
}

/** When the lines of a channel are to be stored that wait for no other line. */
function dueTimesOf(queue: readonly PendingLine[], now: number): number[] {
  const times: number[] = [];
  let isBlocked = false;
  for (const pending of queue) {
    if (isBlocked && pending.owner !== "self") continue;
    isBlocked ||= isLeft(pending) && pending.dueAt > now;
    // What failed is tried again with the next look at the other nodes.
    if (!pending.hasFailed) times.push(pending.dueAt);
  }
  return times;
}

/** Whether a line is left to one other node. */
function isLeft({ owner }: PendingLine): boolean {
  return owner === "peer" || owner === "other";
}

/** The lines of a channel to store now, in order: up to the last one whose time has come. */
function dueOf(queue: readonly PendingLine[], now: number): PendingLine[] {
  const passing: PendingLine[] = [];
  let due = 0;
  let isBlocked = false;
  for (const pending of queue) {
    const isDue = pending.dueAt <= now;
    if (isBlocked && pending.owner !== "self") continue;
    if (isLeft(pending) && !isDue) {
      isBlocked = true;
      continue;
    }
    passing.push(pending);
    if (isDue) due = passing.length;
  }
  return passing.slice(0, due);
}

function newTurn(): Turn {
  const turn = Promise.withResolvers<void>();
  turn.promise.catch(() => {});
  return turn;
}

function tooMany(): Unavailable {
  return new Unavailable("The database takes no messages at the moment");
}

function unreadable(): Unavailable {
  return new Unavailable("The database cannot be read at the moment");
}

function closed(): Unavailable {
  return new Unavailable("The server is shutting down");
}
