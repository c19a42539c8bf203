import { BatchedWrites, DatabaseError } from "../../database/mod.ts";
import { Unavailable } from "../../errors.ts";
import type {
  HistoryQuery,
  HistoryRecord,
  HistoryStore,
  HistoryTarget,
  LastMessage,
  NewHistoryRecord,
} from "../../irc/mod.ts";
import type { Log } from "../../log.ts";
import type { Scheduler } from "../../scheduler.ts";
import { type PartThread, SharedThread } from "../../threads/mod.ts";
import {
  type Answers,
  type FoundRecords,
  type Operation,
  packOperations,
  type Question,
  type RecordSearch,
  type Retention,
} from "./protocol.ts";
import { archivePart } from "./archive_part.ts";
import { WorkerPort, type Write } from "./worker_port.ts";

/** Most bytes of records that wait to be written. */
const MAX_QUEUED_BYTES = 16 * 1024 * 1024;

/** Most waiting changes; deletions may still wait when no more records may. */
const MAX_QUEUED_CHANGES = 200_000;

/** Estimated memory of a record beside its content. */
const RECORD_BYTES = 512;

/** Changes of one transaction. */
const BATCH = 500;

/** How often retention removes old records. */
const TRIM_MILLISECONDS = 60 * 60 * 1000;
const FIRST_TRIM_MILLISECONDS = 60 * 1000;

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
  readonly scheduler: Scheduler;
  readonly log: Log;
}

/** Changes that the worker was given, and their number. */
interface Given {
  readonly write: Write;
  readonly count: number;
}

/** Figures of the archive. */
export interface ArchiveStats {
  /** Records lost since the start because the disk refused them. */
  readonly lost: number;
  /** Changes that wait to be written. */
  readonly waiting: number;
  /** Used bytes of the file. */
  readonly bytes: number;
}

/**
 * The history of the IRC server in a SQLite file, which a worker reads and writes; nothing here
 * blocks on the disk. Records are written in batches, 20 ms after they arrive. A kill of the
 * process loses at most that, and a power failure at most the last second.
 *
 * If the disk refuses, up to 16 MiB of changes wait and are tried again. Further records are lost,
 * counted and logged; chat continues. The stored history can still be read, unless a deletion is
 * waiting.
 */
export class HistoryArchive implements HistoryStore {
  readonly newestTime: number;
  readonly #options: ArchiveOptions;
  readonly #worker: WorkerPort;
  readonly #writes: BatchedWrites;
  readonly #queue: Operation[] = [];
  /** The changes at the head of the queue that the worker was given. */
  #given: Given | null = null;
  #retention: Retention;
  #queuedBytes = 0;
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
  #closed = false;

  private constructor(
    options: ArchiveOptions,
    worker: WorkerPort,
    newest: { readonly newestTime: number; readonly lastSequence: number },
  ) {
    this.#options = options;
    this.#worker = worker;
    this.#writes = new BatchedWrites({
      scheduler: options.scheduler,
      hasWaiting: () => this.#queue.length > (this.#given?.count ?? 0),
      writeBatch: () => this.#writeBatch(),
    });
    this.#retention = options.retention;
    this.newestTime = newest.newestTime;
    this.#lastSequence = newest.lastSequence;
    this.#cancelTrim = options.scheduler.after(FIRST_TRIM_MILLISECONDS, () => this.#trim());
  }

  /**
   * Opens the archive. Creates it if it does not exist, readable by its owner alone.
   *
   * @throws DatabaseError if the file is not an archive or belongs to a newer version
   */
  static async open(options: ArchiveOptions): Promise<HistoryArchive> {
    const worker = new WorkerPort({
      path: options.path,
      speakerTag: options.speakerTag ?? "",
      thread: options.thread ?? new SharedThread({ history: archivePart }),
    });
    try {
      return new HistoryArchive(options, worker, await worker.open());
    } catch (error) {
      await worker.close();
      throw new DatabaseError(error instanceof Error ? error.message : String(error));
    }
  }

  append(record: NewHistoryRecord): void {
    if (this.#closed || this.#queuedBytes + sizeOf(record) > MAX_QUEUED_BYTES) {
      if (this.#gap++ === 0) {
        this.#options.log.error("Messages are not stored: the disk takes no more history");
      }
      this.#lost++;
      return;
    }
    this.#queuedBytes += sizeOf(record);
    this.#change({ kind: "append", sequence: ++this.#lastSequence, record });
  }

  redact(id: string): void {
    this.#change({ kind: "redact", id });
  }

  confine(target: HistoryTarget): void {
    this.#change({ kind: "confine", target });
  }

  forgetConfined(target: HistoryTarget): void {
    this.#change({ kind: "forgetConfined", target });
  }

  forgetAccount(account: string): void {
    this.#change({ kind: "forgetAccount", account, before: null });
  }

  rename(from: HistoryTarget, to: HistoryTarget, title: string): void {
    this.#change({ kind: "rename", from, to, title });
  }

  async select(target: HistoryTarget, query: HistoryQuery): Promise<readonly number[]> {
    return await this.#ask({ kind: "select", target, query }) as Answers["select"];
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
      this.#change({ kind: "forgetAccount", account, before: since(account) });
    }
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
    const written = this.#given?.write.done ? this.#given.count : 0;
    return { lost: this.#lost, waiting: this.#queue.length - written, bytes: this.#bytes };
  }

  /** Writes the waiting changes and closes the file. */
  async close(): Promise<void> {
    if (this.#closed) return;
    await this.#settle();
    this.#closed = true;
    this.#cancelTrim();
    this.#writes.stop();
    if (this.#queue.length > 0) {
      this.#options.log.error("The last messages are not stored: the disk does not take them", {
        records: this.#queue.length,
      });
    }
    await this.#worker.close();
  }

  #change(operation: Operation): void {
    if (this.#closed) return;
    if (this.#queue.length >= MAX_QUEUED_CHANGES) {
      const { kind } = operation;
      return this.#options.log.error("A change of the history is lost", { kind });
    }
    this.#queue.push(operation);
    this.#asked++;
    this.#writes.schedule();
  }

  async #ask(question: Question): Promise<Answers[keyof Answers]> {
    await this.#settle();
    if (this.#queue.some(({ kind }) => kind !== "append")) {
      throw new Unavailable("The history cannot be read until the deletions before it are done");
    }
    const response = await this.#worker.request({ kind: "ask", question });
    if (response.kind !== "answer") throw new TypeError("The archive answered something else");
    return response.value;
  }

  /** Writes all changes requested so far, or as many as the disk accepts. */
  async #settle(): Promise<void> {
    const goal = this.#asked;
    while (this.#written < goal) {
      if (!await this.#writes.write()) return;
    }
  }

  /**
   * Gives the worker the next changes once it has written the last ones. Nobody is woken when it has
   * written them; the next batch looks. Only a disk that refuses is waited for.
   */
  async #writeBatch(): Promise<boolean> {
    if (this.#given !== null && !await this.#finish(this.#given)) return false;
    const operations = this.#queue.slice(0, BATCH);
    if (operations.length === 0) return true;
    const { records } = this.#retention;
    const changes = { operations: packOperations(operations), records };
    try {
      const write = this.#worker.write(changes, () => this.#writes.schedule());
      this.#given = { write, count: operations.length };
    } catch (error) {
      return this.#refused(error);
    }
    return this.#writes.failing ? await this.#finish(this.#given) : true;
  }

  /** Waits for the worker, and removes what it has written from the queue. */
  async #finish({ write, count }: Given): Promise<boolean> {
    this.#given = null;
    try {
      this.#bytes = await write.finished();
    } catch (error) {
      return this.#refused(error);
    }
    for (const operation of this.#queue.splice(0, count)) {
      if (operation.kind === "append") this.#queuedBytes -= sizeOf(operation.record);
    }
    this.#written += count;
    this.#recovered();
    const { bytes } = this.#retention;
    if (bytes !== null && this.#bytes > bytes) this.#trim();
    return true;
  }

  #refused(error: unknown): false {
    if (!this.#writes.failing) {
      this.#options.log.error("The history cannot be written", { error });
    }
    return false;
  }

  #recovered(): void {
    if (!this.#writes.failing && this.#gap === 0) return;
    this.#options.log.warn("The history is written again", { recordsLost: this.#gap });
    this.#gap = 0;
  }

  /** Removes what retention does not keep, in steps that leave room for other requests. */
  async #trim(): Promise<void> {
    if (this.#closed) return;
    const { scheduler, log } = this.#options;
    this.#cancelTrim();
    this.#cancelTrim = scheduler.after(TRIM_MILLISECONDS, () => this.#trim());
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

function sizeOf({ content, id, title }: NewHistoryRecord): number {
  return RECORD_BYTES + 2 * (content.length + id.length + title.length);
}
