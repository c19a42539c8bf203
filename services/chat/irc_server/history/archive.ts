import { DatabaseError } from "../../../engines/database/mod.ts";
import { Unavailable } from "../../../kernel/errors.ts";
import type {
  HistoryKind,
  HistoryQuery,
  HistoryRecord,
  HistoryStore,
  HistoryTarget,
  LastMessage,
  NewHistoryRecord,
} from "../../../engines/irc/mod.ts";
import { DeferredWriter } from "../../../kernel/deferred_writer.ts";
import type { Log } from "../../../kernel/log.ts";
import type { Scheduler } from "../../../kernel/scheduler.ts";
import { type PartThread, SharedThread } from "../../../kernel/threads/mod.ts";
import type { Answers, FoundRecords, Question, RecordSearch } from "./protocol.ts";
import { archivePart } from "./archive_part.ts";
import { exceeds, type Extent, grown, type Retention } from "./extent.ts";
import { Journal } from "./journal.ts";
import { SilentLogs } from "./silent_logs.ts";
import { WaitingChanges } from "./waiting_changes.ts";
import { WorkerPort } from "./worker_port.ts";
import { type Operation, packOperations } from "./changes.ts";

/** Every record, also the place of a redacted one. */
const REMOVED: HistoryKind = 3;

/** What people say. */
const MESSAGE: HistoryKind = 0;

/** Changes of one transaction. */
const BATCH = 500;

/** How long changes are gathered for one transaction, in milliseconds, and urgent ones. */
const GATHER_MILLISECONDS = 5000;
const GATHER_URGENT_MILLISECONDS = 20;

/** How often retention removes old records. */
const TRIM_MILLISECONDS = 60 * 60 * 1000;
const FIRST_TRIM_MILLISECONDS = 60 * 1000;

/** How long after a refusal the disk is asked again, in milliseconds. */
const PROBE_MILLISECONDS = 1000;

/** Records that retention removes in one transaction, so that other requests need not wait long. */
const TRIM_STEP = 1000;

export interface ArchiveOptions {
  readonly path: string;
  /** The thread that reads and writes the file; the calling one, if absent. */
  readonly thread?: PartThread<"history">;
  readonly retention: Retention;
  /**
   * The tag with the nick for whom a message was said, whose text then begins with that nick in
   * brackets. A search takes it for the speaker. Absent if there is none.
   */
  readonly speakerTag?: string;
  /** Says when messages are refused to keep room on the disk; absent if they never are. */
  readonly space?: { readonly isShort: boolean };
  readonly scheduler: Scheduler;
  readonly log: Log;
}

/** What an archive begins with. */
interface OpenedArchive {
  readonly worker: WorkerPort;
  readonly journal: Journal;
  readonly extent: Extent;
  /** Changes that only the journal has. */
  readonly replayed: readonly Operation[];
  readonly newestTime: number;
  readonly lastSequence: number;
}

/** Figures of the archive. */
export interface ArchiveStats {
  /** Events lost since the start, such as JOIN; messages are refused instead. */
  readonly lost: number;
  /** Changes that wait to be written. */
  readonly waiting: number;
  /** Used bytes of the file. */
  readonly bytes: number;
}

/**
 * The history of the IRC server in a SQLite file, which a worker reads and writes. A message goes to
 * a journal before anybody gets it, and an event at the end of its task: a kill of the process loses
 * no message, and a power failure the last second. The worker writes the changes in batches, every
 * five seconds, and before they are read. Deletions are written within 20 ms.
 *
 * What the journal refuses is not said ({@link accept}). If the disk refuses the file, up to 16 MiB of
 * changes wait and are tried again; then messages are refused, and events are lost, counted and
 * logged. The stored history can still be read, unless a deletion is waiting. If only the journal
 * refuses events, all changes are written within 20 ms. While more is said than the worker writes,
 * those who speak wait ({@link room}).
 */
export class HistoryArchive implements HistoryStore {
  readonly newestTime: number;
  readonly #options: ArchiveOptions;
  readonly #worker: WorkerPort;
  readonly #writes: DeferredWriter;
  readonly #journal: Journal;
  readonly #changes: WaitingChanges;
  readonly #silent = new SilentLogs();
  #retention: Retention;
  /** What the file has at most; null if that is not known, or was too much. */
  #extent: Extent | null;
  #lastSequence: number;
  /** Requested and written changes since the start. */
  #asked = 0;
  #written = 0;
  #trimming = false;
  #lost = 0;
  /** Records lost since the last successful write. */
  #gap = 0;
  #bytes = 0;
  #cancelTrim: () => void;
  #cancelProbe: (() => void) | null = null;
  /** What those wait for who have spoken while too much waited; null if nobody does. */
  #behind: PromiseWithResolvers<void> | null = null;
  #closed = false;

  private constructor(options: ArchiveOptions, opened: OpenedArchive) {
    const { replayed, lastSequence } = opened;
    this.#options = options;
    this.#worker = opened.worker;
    this.#journal = opened.journal;
    this.#writes = new DeferredWriter({
      scheduler: options.scheduler,
      gather: () => this.#isHurried() ? GATHER_URGENT_MILLISECONDS : GATHER_MILLISECONDS,
      hasWaiting: () => this.#changes.length > 0,
      writeBatch: () => this.#writeBatch(),
    });
    this.#changes = new WaitingChanges({
      journal: opened.journal,
      scheduler: options.scheduler,
      replayed,
      onAdded: () => this.#writes.schedule(),
    });
    this.#retention = options.retention;
    this.#extent = opened.extent;
    this.newestTime = opened.newestTime;
    this.#lastSequence = lastSequence;
    this.#asked = replayed.length;
    this.#cancelTrim = options.scheduler.after(FIRST_TRIM_MILLISECONDS, () => this.#trim());
  }

  /**
   * Opens the archive. Creates it if it does not exist, readable by its owner alone. It gets what only
   * the journal has.
   *
   * @throws DatabaseError if the file is not an archive or belongs to a newer version
   */
  static async open(options: ArchiveOptions): Promise<HistoryArchive> {
    const { path, scheduler, log } = options;
    const worker = new WorkerPort({
      path,
      speakerTag: options.speakerTag ?? "",
      thread: options.thread ?? new SharedThread({ history: archivePart }),
    });
    try {
      Journal.prepare(path);
      const { newestTime, last, extent } = await worker.open();
      const now = scheduler.now();
      const { journal, operations: replayed } = Journal.open({ path, last, now, log });
      const archive = new HistoryArchive(options, {
        worker,
        journal,
        extent,
        replayed,
        newestTime: replayed.reduce(laterTime, newestTime),
        lastSequence: replayed.at(-1)?.sequence ?? last.sequence,
      });
      await archive.flush();
      archive.#probeLater();
      return archive;
    } catch (error) {
      await worker.close();
      const reason = error instanceof Unavailable ? error.cause ?? error : error;
      throw new DatabaseError(reason instanceof Error ? reason.message : String(reason));
    }
  }

  accept(records: readonly NewHistoryRecord[]): boolean {
    if (this.#options.space?.isShort || !this.#changes.hasRoomFor(records)) return false;
    if (records.length === 0) return !this.#closed && !this.#journal.isFailing;
    for (const record of records) this.#noteRecord(record);
    return this.#store(
      records.map((record, index) => {
        return { kind: "append", sequence: this.#lastSequence + 1 + index, record };
      }),
    );
  }

  append(record: NewHistoryRecord): void {
    if (this.#closed) return;
    this.#noteRecord(record);
    if (this.#changes.hasRoomFor([record])) {
      return this.#change({ kind: "append", sequence: this.#lastSequence + 1, record });
    }
    if (this.#gap++ === 0) {
      const reason = this.problem ?? "more happens than can be written";
      this.#options.log.error("Events of channels are not stored", { reason });
    }
    this.#lost++;
  }

  redact(id: string): boolean {
    return this.#store([{ kind: "redact", sequence: this.#lastSequence + 1, id }]);
  }

  room(): Promise<void> | null {
    if (!this.#changes.isBehind || this.#writes.failing || this.#closed) return null;
    if (this.#behind === null) {
      this.#behind = Promise.withResolvers<void>();
      void this.#catchUp();
    }
    return this.#behind.promise;
  }

  confine(target: HistoryTarget): void {
    this.#change({ kind: "confine", sequence: this.#lastSequence + 1, target });
  }

  forgetConfined(target: HistoryTarget): void {
    this.#change({ kind: "forgetConfined", sequence: this.#lastSequence + 1, target });
  }

  forgetAccount(account: string): void {
    this.#forgetAccount(account, null);
  }

  rename(from: HistoryTarget, to: HistoryTarget, title: string): void {
    this.#silent.forget(to);
    this.#change({ kind: "rename", sequence: this.#lastSequence + 1, from, to, title });
  }

  /** Whether a log has a record with this id, or had it before it was redacted. */
  async has(target: HistoryTarget, id: string): Promise<boolean> {
    const part = { kind: "around", reference: { id } } as const;
    return (await this.select(target, { part, limit: 1, upTo: REMOVED })).length > 0;
  }

  isSilent(target: HistoryTarget): boolean {
    return this.#silent.has(target);
  }

  async select(target: HistoryTarget, query: HistoryQuery): Promise<readonly number[]> {
    const question = { kind: "select", target, query } as const;
    const isSilent = this.#silent.ask(target, query);
    const places = await this.#ask(question) as Answers["select"];
    if (places.length === 0 && this.#changes.countBefore(question) === 0) isSilent();
    return places;
  }

  async fetch(places: readonly number[]): Promise<readonly HistoryRecord[]> {
    return await this.#ask({ kind: "fetch", places }) as Answers["fetch"];
  }

  async lastMessages(
    channels: readonly string[],
    account: string | null,
    between: readonly [number, number],
  ): Promise<readonly LastMessage[]> {
    const question = { kind: "lastMessages", channels, account, between } as const;
    return await this.#ask(question) as Answers["lastMessages"];
  }

  /**
   * Channels in which something was said that is not confined, so that the next user who makes such
   * a channel may read it, and when. Knows the 1000 channels with the newest logs, and looks at the last
   * 100 messages of each.
   *
   * @throws Unavailable if the history cannot be read at the moment
   */
  async openChannels(): Promise<readonly LastMessage[]> {
    return await this.#ask({ kind: "openChannels" }) as Answers["openChannels"];
  }

  /**
   * When the newest message was said that retention removed from a log, in Unix milliseconds; 0 if it
   * has removed none.
   *
   * @throws Unavailable if the history cannot be read at the moment
   */
  async trimmed(target: HistoryTarget): Promise<number> {
    return await this.#ask({ kind: "trimmed", target }) as Answers["trimmed"];
  }

  /**
   * Searches what was said in a log, from the newest message back. An answer takes a limited time
   * and may have found nothing yet; search on where it stopped.
   *
   * @throws Unavailable if the history cannot be read at the moment
   */
  async search(target: HistoryTarget, wanted: RecordSearch): Promise<FoundRecords> {
    return await this.#ask({ kind: "search", target, wanted }) as Answers["search"];
  }

  /**
   * Forgets messages of deleted accounts and of earlier holders of a name. A kill of the process, or a
   * run without an archive, may have left them.
   *
   * @param since the creation time of an account, in Unix milliseconds; null if there is none
   */
  async forgetStrangers(since: (account: string) => number | null): Promise<void> {
    for (const account of await this.#ask({ kind: "accounts" }) as Answers["accounts"]) {
      this.#forgetAccount(account, since(account));
    }
  }

  /** Why the history takes no messages, or cannot be written; null if it can. */
  get problem(): string | null {
    if (this.#journal.isFailing) return "the disk takes no messages";
    return this.#writes.failing ? "the disk refuses the file of the history" : null;
  }

  /** Finds out whether the disk takes the history again, if it did not. */
  async recheck(): Promise<void> {
    if (this.problem === null || this.#closed) return;
    await this.#writes.write();
    if (!this.#closed) this.#journal.probe();
    this.#probeLater();
  }

  /** Writes all changes requested so far, or as many as the disk accepts. */
  async flush(): Promise<void> {
    await this.#settle();
  }

  /** Changes the retention. */
  retain(retention: Retention): void {
    this.#retention = retention;
    this.#trim();
  }

  stats(): ArchiveStats {
    return { lost: this.#lost, waiting: this.#changes.length, bytes: this.#bytes };
  }

  /** Writes the waiting changes and closes the file. */
  async close(): Promise<void> {
    if (this.#closed) return;
    await this.#settle();
    this.#closed = true;
    this.#cancelTrim();
    this.#cancelProbe?.();
    this.#goOn();
    this.#writes.stop();
    this.#changes.stop();
    if (this.#changes.length > 0) {
      this.#options.log.error("The last messages are not stored: the disk does not take them", {
        records: this.#changes.length,
      });
    }
    // What the disk has not confirmed stays in the journal, too.
    const isDone = await this.#worker.close() && this.#changes.length === 0;
    if (!isDone) await this.#journal.sync();
    this.#journal.close(isDone);
  }

  #noteRecord({ kind, target }: NewHistoryRecord): void {
    if (kind === MESSAGE) this.#silent.forget(target);
  }

  #forgetAccount(account: string, before: number | null): void {
    this.#change({ kind: "forgetAccount", sequence: this.#lastSequence + 1, account, before });
  }

  #change(operation: Operation): void {
    if (this.#closed) return;
    if (this.#changes.isFull) {
      const { kind } = operation;
      return this.#options.log.error("A change of the history is lost", { kind });
    }
    this.#lastSequence = operation.sequence;
    this.#changes.add(operation);
    this.#asked++;
  }

  /** Adds changes of which somebody is told. Returns false if they are not stored. */
  #store(operations: readonly Operation[]): boolean {
    if (this.#closed || !this.#changes.addStored(operations)) {
      this.#probeLater();
      return false;
    }
    this.#lastSequence += operations.length;
    this.#asked += operations.length;
    return true;
  }

  /** Asks the disk again in a second if it refuses something. */
  #probeLater(): void {
    if (this.problem === null || this.#closed || this.#cancelProbe !== null) return;
    this.#cancelProbe = this.#options.scheduler.after(PROBE_MILLISECONDS, () => {
      this.#cancelProbe = null;
      void this.recheck();
    });
  }

  /** Writes batches until those may go on who wait for room. */
  async #catchUp(): Promise<void> {
    while (this.#behind !== null && await this.#writes.write());
  }

  /** Lets those go on who have waited for room. */
  #goOn(): void {
    this.#behind?.resolve();
    this.#behind = null;
  }

  async #ask(question: Question): Promise<Answers[keyof Answers]> {
    await this.#settle(this.#written + this.#changes.countBefore(question));
    if (this.#changes.haveDeletions) {
      throw new Unavailable("The history cannot be read until the deletions before it are done");
    }
    const response = await this.#worker.request({ kind: "ask", question });
    if (response.kind !== "answer") throw new TypeError("The archive answered something else");
    return response.value;
  }

  /** Writes so many changes since the start, all by default, or as many as the disk accepts. */
  async #settle(goal = this.#asked): Promise<void> {
    while (this.#written < goal) {
      if (!await this.#writes.write()) return;
    }
  }

  /** Whether the changes that wait should not be gathered for long. */
  #isHurried(): boolean {
    return this.#changes.areUrgent || this.#changes.length >= BATCH;
  }

  async #writeBatch(): Promise<boolean> {
    const operations = this.#changes.oldest(BATCH);
    const last = operations.at(-1)?.sequence ?? this.#lastSequence;
    try {
      const response = await this.#worker.request({
        kind: "write",
        operations: packOperations(operations),
        records: this.#retention.records,
        journals: this.#journal.turn(last),
        identity: this.#journal.identity,
      });
      if (response.kind !== "written") throw new TypeError("The archive answered something else");
      this.#bytes = response.bytes;
      if (this.#extent !== null) this.#extent = grown(this.#extent, operations, response.bytes);
      this.#journal.emptied(response.emptied);
    } catch (error) {
      return this.#refused(error);
    }
    this.#changes.removeOldest(operations.length);
    this.#written += operations.length;
    this.#recovered();
    if (this.#changes.hasCaughtUp) this.#goOn();
    const { bytes } = this.#retention;
    if (bytes !== null && this.#bytes > bytes) this.#trim();
    return true;
  }

  #refused(error: unknown): false {
    if (!this.#writes.failing) {
      this.#options.log.error("The history cannot be written", { error });
    }
    this.#goOn();
    return false;
  }

  #recovered(): void {
    if (!this.#writes.failing && this.#gap === 0) return;
    this.#options.log.warn("The history is written again", { eventsLost: this.#gap });
    this.#gap = 0;
  }

  /** Removes what retention does not keep, in steps that leave room for other requests. */
  async #trim(): Promise<void> {
    if (this.#closed) return;
    const { scheduler, log } = this.#options;
    this.#cancelTrim();
    this.#cancelTrim = scheduler.after(TRIM_MILLISECONDS, () => this.#trim());
    // A question would start the worker, which a server without work does without.
    const now = scheduler.now();
    if (this.#extent !== null && !exceeds(this.#extent, this.#retention, now)) return;
    this.#extent = null;
    if (this.#trimming) return;
    this.#trimming = true;
    try {
      for (let removed = TRIM_STEP; removed === TRIM_STEP && !this.#closed;) {
        const step = { retention: this.#retention, now: scheduler.now(), most: TRIM_STEP };
        const response = await this.#worker.request({ kind: "trim", ...step });
        removed = response.kind === "trimmed" ? response.removed : 0;
      }
    } catch (error) {
      log.warn("Old history could not be removed", { error });
    } finally {
      this.#trimming = false;
    }
  }
}

function laterTime(time: number, operation: Operation): number {
  return operation.kind === "append" ? Math.max(time, operation.record.time) : time;
}
