import type { HistoryTarget, NewHistoryRecord } from "../../irc/mod.ts";
import { type Scheduler, untilMultiple } from "../../scheduler.ts";
import type { Journal } from "./journal.ts";
import type { Operation, Question } from "./protocol.ts";

/** Most bytes of records that wait to be written. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Most waiting changes; deletions may still wait when no more records may. */
const MAX_CHANGES = 200_000;

/** How often the journal is synced while changes wait, in milliseconds. */
const SYNC_MILLISECONDS = 1000;

/** Estimated memory of a record beside its content. */
const RECORD_BYTES = 512;

export interface WaitingChangesOptions {
  readonly journal: Pick<Journal, "add" | "sync">;
  readonly scheduler: Scheduler;
  /** Changes that the journal has already. */
  readonly replayed: readonly Operation[];
  /** Called after changes were offered to the journal. */
  readonly onAdded: () => void;
}

/**
 * The queue of changes that the archive does not have yet. The changes of a task go to the journal at
 * its end, as one group: before any answer that acknowledges them leaves the process. The journal is
 * synced each second, unless the archive has the changes by then.
 */
export class WaitingChanges {
  readonly #options: WaitingChangesOptions;
  readonly #changes: Operation[] = [];
  #bytes = 0;
  /** How many changes at the head of the queue were offered to the journal. */
  #offered = 0;
  #isOffering = false;
  /** The number of the last change that is a deletion, or that the journal did not take. */
  #urgent = 0;
  /** Cancels the next sync of the journal; null if none is due. */
  #cancelSync: (() => void) | null = null;

  constructor(options: WaitingChangesOptions) {
    this.#options = options;
    options.replayed.forEach((change) => this.#push(change));
    this.#offered = this.#changes.length;
    this.#urgent = this.#changes.at(-1)?.sequence ?? 0;
  }

  get length(): number {
    return this.#changes.length;
  }

  /** Whether no further change can wait. */
  get isFull(): boolean {
    return this.#changes.length >= MAX_CHANGES;
  }

  /** Whether changes wait that a kill would lose, or whose effect should not wait. */
  get areUrgent(): boolean {
    return (this.#changes[0]?.sequence ?? Infinity) <= this.#urgent;
  }

  get haveDeletions(): boolean {
    return this.#changes.some(({ kind }) => kind !== "append");
  }

  /**
   * How many of the oldest changes must be written before a question is answered: those up to the
   * last deletion, and up to the last record that the answer may show. So a reader of one log does
   * not wait for the messages of another.
   */
  countBefore(question: Question): number {
    const mayShow = shownBy(question);
    const isNeeded = (change: Operation) => change.kind !== "append" || mayShow(change);
    return this.#changes.findLastIndex(isNeeded) + 1;
  }

  /** Whether there is room for a record. */
  hasRoomFor(record: NewHistoryRecord): boolean {
    return this.#bytes + sizeOf(record) <= MAX_BYTES;
  }

  add(change: Operation): void {
    this.#push(change);
    if (change.kind !== "append") this.#urgent = change.sequence;
    if (this.#isOffering) return;
    this.#isOffering = true;
    queueMicrotask(() => this.#offer());
  }

  /** The oldest changes, at most so many. */
  oldest(most: number): Operation[] {
    return this.#changes.slice(0, most);
  }

  /** Removes the oldest changes: the archive has them. */
  removeOldest(count: number): void {
    const removed = this.#changes.splice(0, count);
    this.#offered = Math.max(0, this.#offered - count);
    for (const change of removed) {
      if (change.kind === "append") this.#bytes -= sizeOf(change.record);
    }
  }

  /** Ends the syncs of the journal. */
  stop(): void {
    this.#cancelSync?.();
    this.#cancelSync = null;
  }

  #push(change: Operation): void {
    this.#changes.push(change);
    if (change.kind === "append") this.#bytes += sizeOf(change.record);
  }

  #offer(): void {
    const { journal, onAdded } = this.#options;
    const group = this.#changes.slice(this.#offered);
    const last = group.at(-1);
    this.#isOffering = false;
    this.#offered = this.#changes.length;
    if (last === undefined) return;
    if (journal.add(group)) this.#syncSoon();
    else this.#urgent = last.sequence;
    onAdded();
  }

  #syncSoon(): void {
    if (this.#cancelSync !== null) return;
    const { scheduler } = this.#options;
    const pause = untilMultiple(SYNC_MILLISECONDS, scheduler.now());
    this.#cancelSync = scheduler.after(pause, () => this.#sync());
  }

  async #sync(): Promise<void> {
    this.#cancelSync = null;
    const { journal, onAdded } = this.#options;
    const last = this.#changes[this.#offered - 1];
    if (last === undefined || await journal.sync()) return;
    this.#urgent = Math.max(this.#urgent, last.sequence);
    onAdded();
  }
}

/** Which waiting records the answer to a question may show. */
function shownBy(question: Question): (change: Operation & { kind: "append" }) => boolean {
  switch (question.kind) {
    case "select":
    case "search": {
      const { account, name }: HistoryTarget = question.target;
      return ({ record: { target } }) => target.name === name && target.account === account;
    }
    case "fetch": {
      const last = question.places.reduce((one, other) => Math.max(one, other), 0);
      return ({ sequence }) => sequence <= last;
    }
    case "lastMessages":
    case "openChannels":
    case "accounts":
      return () => true;
  }
}

function sizeOf({ content, id, title }: NewHistoryRecord): number {
  return RECORD_BYTES + 2 * (content.length + id.length + title.length);
}
