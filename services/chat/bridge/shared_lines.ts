import { Unavailable } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import type { Channel } from "./channel.ts";
import type { AddedLines, LineStore, NewLine, StoredLine } from "./stored_lines.ts";

/** How long a node that does not lead leaves a line to the leader, in milliseconds. */
const LEADER_MILLISECONDS = 250;

/** How long a line is left to the node that said it, or that heard it when it was new. */
const SPEAKER_MILLISECONDS = 3000;

/** After how long without lines one is stored at once, in milliseconds. */
const QUIET_MILLISECONDS = 20;

/** Lines stored and read at once. */
const BATCH = 250;
const PAGE = 500;

/** Pause between two warnings, in milliseconds. */
const WARNING_MILLISECONDS = 60_000;

interface RequestedWrite {
  /** Whether it also reads what is stored. */
  reads: boolean;
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
  /** Whether the bridge of the leading node is in a channel and hears what is said there. */
  readonly isLeaderIn: (channel: string) => boolean;
  /** Whether there are other nodes, which may not run. */
  readonly hasPeers: () => boolean;
  /** A channel that the bridge is in, was in or enters, by its folded name. */
  readonly find: (channel: string) => Channel | null;
  /** How long lines are gathered for one transaction while many come, in milliseconds. */
  readonly gatherMilliseconds: number;
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
 * one was faster, and all are told what is stored, or read it: the same lines in the same order, with
 * the same ids and timestamps, whenever a node began to listen. A node whose connection to IRC is lost
 * goes on so. A post is acknowledged when all nodes have it, so a reader needs no query.
 *
 * The lines of a channel are stored in the order in which the bridge heard them, except that its own
 * do not wait for those that are left to another node.
 */
export class SharedLines {
  readonly #options: SharedLinesOptions;
  readonly #pending = new PendingLines();
  readonly #credits: LineCredits;
  readonly #fills = new Set<Channel>();
  /** The read under way. */
  #reading: Promise<void> | null = null;
  /** The next read, if it has not begun. */
  #nextRead: Promise<void> | null = null;
  /** Whether the nodes have told every line after {@link #seen}. */
  #isTold = false;
  #seen: number;
  #requested: RequestedWrite | null = null;
  /** When lines were last stored, in Unix milliseconds. */
  #storedAt = -Infinity;
  /** Lines that were given up since the last warning of that, and its time in Unix milliseconds. */
  #dropped = 0;
  #warnedAt = -Infinity;
  #isRunning = false;
  #cancelTimer: () => void = () => {};
  /** When the timer ends, in Unix milliseconds. */
  #timerAt = Infinity;
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
    const credit = this.#credits.spend(line);
    if (credit !== null) return isOwn({ owner }) ? credit.confirmed() : Promise.resolve();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    promise.catch(() => {});
    const dueAt = this.#dueAt(line, owner);
    const dropped = this.#pending.add({
      line,
      owner,
      dueAt,
      state: "waiting",
      stored: resolve,
      failed: reject,
    });
    this.#noteDropped(dropped);
    this.#lookAt(dueAt);
    return promise;
  }

  /**
   * Takes lines that any node has stored, and waits for it.
   *
   * @param added null if they are to be read
   */
  async take(added: AddedLines | null): Promise<void> {
    if (this.#closed) return;
    if (added === null || !this.#isTold) return await this.#read();
    // What is being read comes before it.
    while (this.#reading !== null) await this.#reading.catch(() => {});
    for (const line of added.lines) this.#deliver(line, added.confirmed);
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
    return this.#request(true);
  }

  /** Stores what there is, and does not wait for it. */
  wake(): void {
    this.#request(false).catch(() => {});
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

  #dueAt({ channel }: NewLine, owner: LineOwner): number {
    const { scheduler, isLeading, isLeaderIn, hasPeers } = this.#options;
    const now = scheduler.now();
    if (owner === "self" || !hasPeers()) return now;
    if (owner === "other") return now + SPEAKER_MILLISECONDS;
    return isLeading() || !isLeaderIn(channel) ? now : now + LEADER_MILLISECONDS;
  }

  #request(reads: boolean): Promise<void> {
    if (this.#closed) return Promise.reject(closed());
    this.#requested ??= newRequestedWrite();
    this.#requested.reads ||= reads;
    const { promise } = this.#requested;
    if (!this.#isRunning) void this.#run();
    return promise;
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    for (let turn = this.#requested; turn !== null; turn = this.#requested) {
      await this.#gather();
      this.#requested = null;
      try {
        await this.#store();
        if (turn.reads) await this.#read();
        turn.resolve();
      } catch (error) {
        turn.reject(error instanceof Unavailable ? error : unreadable());
      }
    }
    this.#isRunning = false;
    this.#schedule();
  }

  /** Waits for lines that come together, and for more while many come. */
  async #gather(): Promise<void> {
    const { scheduler, gatherMilliseconds } = this.#options;
    const isQuiet = scheduler.now() - this.#storedAt >= QUIET_MILLISECONDS;
    if (isQuiet || gatherMilliseconds === 0) return;
    await new Promise<void>((resolve) => scheduler.after(gatherMilliseconds, resolve));
  }

  /** Stores the lines whose time has come. */
  async #store(): Promise<void> {
    const { store, scheduler } = this.#options;
    const now = scheduler.now();
    const all = this.#pending.queues().flatMap((queue) => dueOf(queue, now));
    const due = all.slice(0, BATCH);
    if (all.length > BATCH) this.wake();
    if (due.length === 0) return;
    for (const pending of due) pending.state = "storing";
    this.#storedAt = now;
    const { stored, confirmed } = store.add(due.map(({ line }) => line), this.#seen);
    const settled = confirmed.then(() => this.#settleAll(due));
    settled.catch((error) => {
      for (const pending of due) this.#fail(pending, error);
    });
    await stored;
  }

  /** Settles lines that are stored: with those that were not told, or that were there before. */
  async #settleAll(lines: readonly PendingLine[]): Promise<void> {
    if (!lines.some((pending) => this.#pending.has(pending))) return;
    await this.#read();
    for (const pending of lines) this.#settle(pending);
  }

  /** Fails the lines that are given up, and says so once in a while. */
  #noteDropped(dropped: readonly PendingLine[]): void {
    if (dropped.length === 0) return;
    for (const { failed } of dropped) failed(tooMany());
    const { scheduler, log } = this.#options;
    this.#dropped += dropped.length;
    if (scheduler.now() - this.#warnedAt < WARNING_MILLISECONDS) return;
    this.#warnedAt = scheduler.now();
    log.warn("Lines of channels were given up: the database takes none", { lines: this.#dropped });
    this.#dropped = 0;
  }

  #fail(pending: PendingLine, error: unknown): void {
    // What is stored and not confirmed is not pending any more; others are stored later.
    if (pending.state === "storing") pending.state = "failed";
    pending.failed(error instanceof Error ? error : unreadable());
  }

  /** Reads what is stored when it is called. One read follows the other. */
  #read(): Promise<void> {
    return this.#nextRead ??= (this.#reading ?? Promise.resolve()).catch(() => {}).then(() => {
      this.#nextRead = null;
      const reading = this.#readAll().finally(() => {
        if (this.#reading === reading) this.#reading = null;
      });
      return this.#reading = reading;
    });
  }

  async #readAll(): Promise<void> {
    const { store } = this.#options;
    const from = this.#seen;
    const counts = new Map<string, number>();
    for (;;) {
      const lines = await store.after(this.#seen, PAGE);
      let confirmed: Promise<void> | null = null;
      for (const line of lines) {
        counts.set(line.channel, (counts.get(line.channel) ?? 0) + 1);
        this.#deliver(line, () => confirmed ??= store.confirm());
      }
      if (lines.length < PAGE) break;
    }
    this.#isTold = true;
    for (const [name, count] of counts) await this.#lookForGap(name, { from, count });
    for (const channel of this.#fills) await this.#fill(channel);
  }

  /**
   * Interrupts those who follow a channel if lines of it were removed before this node had read
   * them: only the newest are kept, and it read that many.
   *
   * @param from the place up to which it knew all lines
   */
  async #lookForGap(
    name: string,
    { from, count }: { readonly from: number; readonly count: number },
  ): Promise<void> {
    const { store, bufferSize, find } = this.#options;
    const channel = count < bufferSize ? null : find(name);
    if (!channel?.isFilled || (await store.oldestOf(name) ?? 0) <= from) return;
    channel.log.noteMissing();
    channel.log.interrupt("This server missed messages of the channel");
  }

  /** Adds a stored line to the log of its channel. */
  #deliver(line: StoredLine, confirmed: () => Promise<void>): void {
    if (line.seq <= this.#seen) return;
    this.#seen = line.seq;
    const { find, onLine } = this.#options;
    const channel = find(line.channel);
    if (channel?.isFilled) onLine(channel, line);
    const same = this.#sameAs(line);
    if (same === undefined) this.#credits.add(line, confirmed);
    else this.#settle(same, confirmed);
  }

  /** The line that a stored one stands for: of several, one that this node is storing. */
  #sameAs({ channel, mark }: StoredLine): PendingLine | undefined {
    const same = this.#pending.of(channel).filter(({ line }) => line.mark === mark);
    return same.find(({ state }) => state === "storing") ?? same[0];
  }

  async #fill(channel: Channel): Promise<void> {
    const { store, bufferSize, onPast } = this.#options;
    const lines = await store.newestOf(channel.key, this.#seen, bufferSize);
    const isFirst = channel.log.size === 0;
    for (const line of lines) onPast(channel, line);
    if (isFirst && lines.length >= bufferSize) channel.log.noteMissing();
    channel.isFilled = true;
    this.#fills.delete(channel);
  }

  /** A line is stored, by whichever node. */
  #settle(pending: PendingLine, confirmed = () => Promise.resolve()): void {
    const { line: { channel }, stored, failed } = pending;
    if (!this.#pending.remove(pending)) return;
    if (isLeft(pending) && this.#pending.of(channel).length > 0) this.#schedule();
    if (isOwn(pending)) confirmed().then(stored, failed);
    else stored();
  }

  /** Sets the timer to the next time at which a line is to be stored. */
  #schedule(): void {
    this.#cancelTimer();
    this.#timerAt = Infinity;
    const now = this.#options.scheduler.now();
    this.#lookAt(
      this.#pending.queues().flatMap((queue) => dueTimesOf(queue, now))
        .reduce((one, other) => Math.min(one, other), Infinity),
    );
  }

  /** Looks for lines to store at a time, in Unix milliseconds. */
  #lookAt(time: number): void {
    const { scheduler } = this.#options;
    const wait = time - scheduler.now();
    if (this.#closed || time >= this.#timerAt) return;
    if (wait <= 0) return this.wake();
    this.#cancelTimer();
    this.#timerAt = time;
    this.#cancelTimer = scheduler.after(wait, () => {
      this.#timerAt = Infinity;
      this.wake();
    });
  }
}

function newRequestedWrite(): RequestedWrite {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  promise.catch(() => {});
  return { reads: false, promise, resolve, reject };
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

/**
 * Who should store a heard line. `self`: this node, whose bridge said it. `shared`: any node, because
 * all of them know as much about what this one's bridge said. `anybody`: any node, because others said
 * it, or another bridge of which this one knows as much. `other`: the node that knows more about it,
 * as long as that runs. Of any node, the leader is the first.
 */
export type LineOwner = "self" | "shared" | "anybody" | "other";

/** A line that the bridge has heard and that is not in the log. */
interface PendingLine {
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
class PendingLines {
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
function dueTimesOf(queue: readonly PendingLine[], now: number): number[] {
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
function isLeft({ owner }: PendingLine): boolean {
  return owner === "other";
}

/** Whether this node's bridge said a line, and somebody waits until all nodes have it. */
function isOwn({ owner }: Pick<PendingLine, "owner">): boolean {
  return owner === "self" || owner === "shared";
}

/** The lines of a channel to store now, in order: up to the last one whose time has come. */
function dueOf(queue: readonly PendingLine[], now: number): PendingLine[] {
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

/** How long a line can be on its way to a bridge after another one has heard it, in milliseconds. */
const LATEST_MILLISECONDS = 60_000;

/** Most lines that can be on their way. */
const MAX_CREDITS = 10_000;

/** A line that was stored before this node's bridge has heard it. */
interface Credit {
  readonly storedAt: number;
  /** Resolves when all nodes have it. */
  readonly confirmed: () => Promise<void>;
}

/**
 * Lines that another node has stored before this one's bridge has heard them. A network can repeat a
 * mark, so each stored line stands for one heard line.
 */
export class LineCredits {
  readonly #now: () => number;
  /** Oldest first, by channel and mark. */
  readonly #credits = new Map<string, Credit[]>();

  /** @param now Unix milliseconds */
  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * Records a stored line that is still to be heard.
   *
   * @param confirmed resolves when all nodes have it
   */
  add(line: Pick<NewLine, "channel" | "mark">, confirmed: () => Promise<void>): void {
    const key = keyOf(line);
    const credits = this.#creditsOf(key);
    this.#credits.delete(key);
    this.#credits.set(key, [...credits, { storedAt: this.#now(), confirmed }].slice(-MAX_CREDITS));
    this.#forgetLate();
  }

  /** Takes one for a heard line; null if there is none. */
  spend(line: Pick<NewLine, "channel" | "mark">): Pick<Credit, "confirmed"> | null {
    this.#forgetLate();
    const key = keyOf(line);
    const [first = null, ...rest] = this.#creditsOf(key);
    if (rest.length > 0) this.#credits.set(key, rest);
    else this.#credits.delete(key);
    return first;
  }

  clear(): void {
    this.#credits.clear();
  }

  /** Those of a mark whose lines can still be on their way. */
  #creditsOf(key: string): Credit[] {
    const earliest = this.#now() - LATEST_MILLISECONDS;
    return (this.#credits.get(key) ?? []).filter(({ storedAt }) => storedAt > earliest);
  }

  #forgetLate(): void {
    const earliest = this.#now() - LATEST_MILLISECONDS;
    for (const [key, credits] of this.#credits) {
      const isFull = this.#credits.size > MAX_CREDITS;
      if (!isFull && (credits.at(-1)?.storedAt ?? 0) > earliest) return;
      this.#credits.delete(key);
    }
  }
}

function keyOf({ channel, mark }: Pick<NewLine, "channel" | "mark">): string {
  return `${channel} ${mark}`;
}
