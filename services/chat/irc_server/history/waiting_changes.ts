import type {
  HistoryKind,
  HistoryPart,
  HistoryTarget,
  NewHistoryRecord,
} from "../../../engines/irc/mod.ts";
import { type Scheduler, untilMultiple } from "../../../kernel/scheduler.ts";
import type { Journal } from "./journal.ts";
import type { Question } from "./protocol.ts";
import type { Operation } from "./changes.ts";

/** Most bytes of records that wait to be written. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Most waiting changes; deletions may still wait when no more records may. */
const MAX_CHANGES = 200_000;

/** Above this share of its room the queue is behind; below half of that, it has caught up. */
const BEHIND_BYTES = MAX_BYTES / 4;
const BEHIND_CHANGES = 4000;

/** Most changes that go to the journal in one group. */
const GROUP = 500;

/** How often the journal is synced while changes wait, in milliseconds. */
const SYNC_MILLISECONDS = 1000;

/** Every record, also the place of a redacted one. */
const REMOVED: HistoryKind = 3;

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
 * The queue of changes that the archive does not have yet. What somebody is told of goes to the
 * journal first ({@link addStored}). Other changes of a task go there at its end, as one group; those
 * that the journal refuses wait, and are offered again before the next ones, because a start reads
 * the journal up to the first gap. The journal is synced each second, unless the archive has the
 * changes by then.
 */
export class WaitingChanges {
  readonly #options: WaitingChangesOptions;
  readonly #changes: Operation[] = [];
  #bytes = 0;
  /** How many changes at the head of the queue the journal has. */
  #journaled = 0;
  #isOffering = false;
  /** The number of the last change that is a deletion, or that the journal did not take. */
  #urgent = 0;
  /** Cancels the next sync of the journal; null if none is due. */
  #cancelSync: (() => void) | null = null;

  constructor(options: WaitingChangesOptions) {
    this.#options = options;
    options.replayed.forEach((change) => this.#push(change));
    this.#journaled = this.#changes.length;
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

  /** Whether there is room for records. */
  hasRoomFor(records: readonly NewHistoryRecord[]): boolean {
    return this.#bytes + records.reduce((sum, record) => sum + sizeOf(record), 0) <= MAX_BYTES &&
      this.#changes.length + records.length <= MAX_CHANGES;
  }

  /** Whether so much waits that those who add to it should wait too. */
  get isBehind(): boolean {
    return this.#changes.length >= BEHIND_CHANGES || this.#bytes >= BEHIND_BYTES;
  }

  /** Whether they need not wait any more. */
  get hasCaughtUp(): boolean {
    return this.#changes.length < BEHIND_CHANGES / 2 && this.#bytes < BEHIND_BYTES / 2;
  }

  /** Adds a change that must not be refused. */
  add(change: Operation): void {
    this.#push(change);
    if (change.kind !== "append") this.#urgent = change.sequence;
    if (this.#isOffering) return;
    this.#isOffering = true;
    queueMicrotask(() => {
      this.#isOffering = false;
      this.#offer();
      this.#options.onAdded();
    });
  }

  /**
   * Adds changes of which somebody is told, if the journal takes them now.
   *
   * @returns false if it does not: then nothing was added
   */
  addStored(changes: readonly Operation[]): boolean {
    const { journal, onAdded } = this.#options;
    if (!this.#offer() || !journal.add(changes)) return false;
    for (const change of changes) {
      this.#push(change);
      if (change.kind !== "append") this.#urgent = change.sequence;
    }
    this.#journaled = this.#changes.length;
    this.#syncSoon();
    onAdded();
    return true;
  }

  /** The oldest changes, at most so many. */
  oldest(most: number): Operation[] {
    return this.#changes.slice(0, most);
  }

  /** Removes the oldest changes: the archive has them. */
  removeOldest(count: number): void {
    const removed = this.#changes.splice(0, count);
    this.#journaled = Math.max(0, this.#journaled - count);
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

  /** Gives the journal what it has not taken yet. Returns whether it has everything now. */
  #offer(): boolean {
    const { journal } = this.#options;
    while (this.#journaled < this.#changes.length) {
      const group = this.#changes.slice(this.#journaled, this.#journaled + GROUP);
      if (!journal.add(group)) {
        this.#urgent = this.#changes.at(-1)?.sequence ?? 0;
        return false;
      }
      this.#journaled += group.length;
      this.#syncSoon();
    }
    return true;
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
    const last = this.#changes[this.#journaled - 1];
    if (last === undefined || await journal.sync()) return;
    this.#urgent = Math.max(this.#urgent, last.sequence);
    onAdded();
  }
}

/** Which waiting records the answer to a question may show. */
function shownBy(question: Question): (change: Operation & { kind: "append" }) => boolean {
  switch (question.kind) {
    case "select": {
      const { target: { account, name }, query } = question;
      const most = refersToRecord(query.part) ? REMOVED : query.upTo;
      return ({ record: { target, kind } }) =>
        kind <= most && target.name === name && target.account === account;
    }
    case "trimmed":
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

/** Whether a part of a log begins or ends at a record, of whatever kind. */
function refersToRecord(part: HistoryPart): boolean {
  switch (part.kind) {
    case "latest":
      return part.since !== null && "id" in part.since;
    case "between":
      return "id" in part.first || "id" in part.second;
    default:
      return "id" in part.reference;
  }
}

function sizeOf({ content, id, title }: NewHistoryRecord): number {
  return RECORD_BYTES + 2 * (content.length + id.length + title.length);
}
