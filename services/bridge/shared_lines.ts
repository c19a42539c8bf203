import { Unavailable } from "../errors.ts";
import type { Log } from "../log.ts";
import type { Scheduler } from "../scheduler.ts";
import type { Channel } from "./channel.ts";
import { LineCredits } from "./line_credits.ts";
import type { LineStore, NewLine, StoredLine } from "./stored_lines.ts";

/** How long a node that does not lead leaves a line to the leader, in milliseconds. */
const LEADER_MILLISECONDS = 50;

/** How long a line is left to the node that said it, or that heard it when it was new. */
const SPEAKER_MILLISECONDS = 3000;

/** Lines stored and read at once. */
const BATCH = 250;
const PAGE = 500;

/** Most lines of a channel that wait to be stored; beyond it, the oldest is dropped. */
const MAX_PENDING = 10_000;

/**
 * Who should store a heard line: this node, whose bridge said it; any node; or another node that
 * knows more about it, as long as it runs.
 */
export type LineOwner = "self" | "anybody" | "other";

interface PendingLine {
  readonly line: NewLine;
  readonly owner: LineOwner;
  /** When this node stores it, in Unix milliseconds. */
  readonly dueAt: number;
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
 * reading.
 *
 * The lines of a channel are stored in the order in which the bridge heard them, except that its own
 * do not wait for those that are left to another node.
 */
export class SharedLines {
  readonly #options: SharedLinesOptions;
  /** By the channel's folded name, in the order of hearing. */
  readonly #pending = new Map<string, PendingLine[]>();
  readonly #credits: LineCredits;
  #fills: Channel[] = [];
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
   * Takes a line that the bridge has heard. Resolves when it is in the log of its channel.
   *
   * @throws Unavailable if the database cannot be written; the line is stored later
   */
  hear(line: NewLine, owner: LineOwner): Promise<void> {
    if (this.#credits.spend(line)) return Promise.resolve();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    promise.catch(() => {});
    const dueAt = this.#dueAt(owner);
    const queue = this.#pending.get(line.channel) ?? [];
    this.#pending.set(line.channel, queue);
    queue.push({ line, owner, dueAt, stored: resolve, failed: reject });
    if (queue.length > MAX_PENDING) queue.shift()?.failed(tooMany());
    if (dueAt <= this.#options.scheduler.now()) this.wake();
    else this.#schedule();
    return promise;
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
    this.#fills.push(channel);
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
      await store.add(due.map(({ line }) => line), this.#seen).catch((error: unknown) => {
        for (const { failed } of due) failed(error instanceof Error ? error : unreadable());
        throw error;
      });
    }
    const fills = this.#fills;
    this.#fills = [];
    await this.#read();
    for (const pending of due) this.#settle(pending);
    for (const channel of fills) await this.#fill(channel);
  }

  async #read(): Promise<void> {
    const { store, find, onLine } = this.#options;
    for (;;) {
      const lines = await store.after(this.#seen, PAGE);
      for (const line of lines) {
        this.#seen = line.seq;
        const channel = find(line.channel);
        if (channel?.isFilled) onLine(channel, line);
        const same = this.#pending.get(line.channel)?.find(({ line: { mark } }) =>
          mark === line.mark
        );
        if (same === undefined) this.#credits.add(line);
        else this.#settle(same);
      }
      if (lines.length < PAGE) return;
    }
  }

  async #fill(channel: Channel): Promise<void> {
    const { store, bufferSize, onPast } = this.#options;
    const lines = await store.newestOf(channel.key, this.#seen, bufferSize);
    for (const line of lines) onPast(channel, line);
    channel.isFilled = true;
  }

  /** A line is stored, by whichever node. */
  #settle(pending: PendingLine): void {
    const { line: { channel }, stored } = pending;
    const queue = this.#pending.get(channel);
    const index = queue?.indexOf(pending) ?? -1;
    if (index >= 0) queue?.splice(index, 1);
    if (queue?.length === 0) this.#pending.delete(channel);
    stored();
  }

  /** Sets the timer to the next time at which a line is to be stored. */
  #schedule(): void {
    this.#cancelTimer();
    const { scheduler } = this.#options;
    const next = Math.min(...[...this.#pending.values()].flat().map(({ dueAt }) => dueAt));
    // What failed is tried again with the next look at the other nodes.
    if (this.#closed || next === Infinity || next <= scheduler.now()) return;
    this.#cancelTimer = scheduler.after(next - scheduler.now(), () => this.wake());
  }
}

/** The lines of a channel to store now, in order: up to the last one whose time has come. */
function dueOf(queue: readonly PendingLine[], now: number): PendingLine[] {
  const passing: PendingLine[] = [];
  let due = 0;
  let isBlocked = false;
  for (const pending of queue) {
    const isDue = pending.dueAt <= now;
    if (isBlocked && pending.owner !== "self") continue;
    if (pending.owner === "other" && !isDue) {
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
