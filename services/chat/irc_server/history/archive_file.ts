import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { HistoryKind, HistoryTarget } from "../../../engines/irc/mod.ts";
import { rollBack } from "../../../engines/database/sqlite/mod.ts";
import type { Extent, Retention } from "./extent.ts";
import type { LastChange } from "./journal_files.ts";
import type { Answers, Question } from "./protocol.ts";
import { ArchiveReader } from "./archive_reader.ts";
import { ArchiveRetention, FORGET_EMPTY } from "./archive_retention.ts";
import { openArchive } from "./schema.ts";
import { SearchIndex, sizeIn } from "./search_index.ts";
import type { Operation } from "./changes.ts";

/** Most rows of logs that are remembered. */
const MAX_KNOWN_LOGS = 1000;

/** How many changes are written before the used bytes are counted again. */
const COUNTED_CHANGES = 100;

/** The row of a log. */
interface LogRow {
  readonly target: number;
  readonly title: string;
}

/** A log to which a transaction adds records. */
interface GrownLog extends LogRow {
  /** Records that its row does not count yet. */
  uncounted: number;
  /** The size of its messages that the search index does not count yet. */
  size: number;
}

/** The archive's file. Its methods block on the disk, so it belongs in a worker. */
export class ArchiveFile {
  readonly #database: DatabaseSync;
  readonly #reader: ArchiveReader;
  readonly #index: SearchIndex;
  readonly #retention: ArchiveRetention;
  readonly #addTarget: StatementSync;
  readonly #addEntry: StatementSync;
  readonly #count: StatementSync;
  readonly #setLast: StatementSync;
  /**
   * The rows of logs as earlier transactions left them, by account and name. Only what appends keeps
   * them: anything else may delete or rename a log.
   */
  readonly #known = new Map<string, LogRow>();
  /** The logs that the transaction adds to, by account and name. */
  readonly #growing = new Map<string, GrownLog>();
  /** The records that the transaction has added to each log, by its id. */
  readonly #added = new Map<number, number>();
  readonly #hasConfined: StatementSync;
  readonly #hasBefore: StatementSync;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  readonly #path: string;
  #usedBytes: number;
  /** Changes since the used bytes were counted. */
  #uncounted = 0;
  #synced = true;

  /**
   * Opens the file. Throws what {@link openArchive} throws.
   *
   * @param speakerTag as in `spokenIn`
   * @param segmentSize as in `SearchIndex`
   */
  constructor(path: string, speakerTag = "", segmentSize?: number) {
    this.#path = path;
    const database = openArchive(path);
    this.#database = database;
    this.#index = new SearchIndex(database, speakerTag, segmentSize);
    this.#retention = new ArchiveRetention(database, this.#index);
    this.#reader = new ArchiveReader({ database, index: this.#index, speakerTag });
    this.#addTarget = this.#database.prepare(
      `INSERT INTO targets (account, name, title, records) VALUES (?, ?, ?, ?)
       ON CONFLICT (account, name) DO UPDATE
       SET title = excluded.title, records = records + excluded.records RETURNING id`,
    );
    this.#addEntry = this.#database.prepare(
      `INSERT INTO entries (sequence, target, time, id, kind, confined, content)
       VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (sequence) DO NOTHING`,
    );
    this.#count = this.#database.prepare("UPDATE targets SET records = records + ? WHERE id = ?");
    this.#setLast = this.#database.prepare(
      "UPDATE last_change SET sequence = max(sequence, ?), journal = coalesce(?, journal)",
    );
    this.#hasConfined = this.#database
      .prepare("SELECT 1 FROM entries WHERE target = ? AND confined = 1 LIMIT 1");
    this.#hasBefore = this.#database.prepare(
      `SELECT 1 FROM targets JOIN entries ON entries.target = targets.id
       WHERE account = ? AND time < ? LIMIT 1`,
    );
    this.#begin = this.#database.prepare("BEGIN IMMEDIATE");
    this.#commit = this.#database.prepare("COMMIT");
    this.#usedBytes = this.#retention.countBytes();
  }

  /** The newest record's time in Unix milliseconds, 0 without one; and the last change. */
  newest(): { newestTime: number; last: LastChange } {
    const record = this.#database
      .prepare("SELECT time FROM entries ORDER BY sequence DESC LIMIT 1").get();
    const change = this.#database.prepare("SELECT sequence, journal FROM last_change").get();
    return {
      newestTime: Number(record?.["time"] ?? 0),
      last: { sequence: Number(change?.["sequence"]), journal: String(change?.["journal"]) },
    };
  }

  extent(): Extent {
    const oldest = this.#database
      .prepare("SELECT time FROM entries ORDER BY sequence LIMIT 1").get();
    const longest = this.#database.prepare("SELECT max(records) AS records FROM targets").get();
    return {
      oldestTime: oldest === undefined ? null : Number(oldest["time"]),
      bytes: this.#usedBytes,
      longest: Number(longest?.["records"] ?? 0),
    };
  }

  /** Used bytes of the file, at most 100 changes ago. */
  get usedBytes(): number {
    return this.#usedBytes;
  }

  /** Whether everything is synced to the disk. */
  get synced(): boolean {
    return this.#synced;
  }

  /**
   * Executes all of these changes, or none. Added records survive a kill of the process, and a
   * power failure once {@link sync} has run; removals are synced at once.
   *
   * If a log is too long afterwards, also removes its oldest records, twice as many as were added.
   * So a log stays near its limit however fast it grows, and no write takes long.
   *
   * Every start asks to forget what is usually gone already: that waits for no disk.
   *
   * @param records the limit of a log; null for none
   * @param journal the identity of their journal; null for the one before
   */
  write(
    operations: readonly Operation[],
    records: number | null = null,
    journal: string | null = null,
  ): void {
    const removes = operations.some((operation) =>
      operation.kind !== "append" && !this.#isDone(operation)
    );
    this.#transaction(() => {
      this.#growing.clear();
      this.#added.clear();
      for (const operation of operations) this.#apply(operation);
      this.#countAdded();
      this.#setLast.run(operations.at(-1)?.sequence ?? 0, journal);
      if (records !== null) this.#retention.shorten(this.#added, records);
      this.#uncounted += operations.length;
      if (this.#uncounted >= COUNTED_CHANGES) this.#recount();
    });
    this.#synced = false;
    if (removes) this.sync();
  }

  /** Waits until the disk has confirmed all writes. */
  sync(): void {
    if (this.#synced) return;
    // SQLite holds no lock on its write-ahead log, so closing another descriptor of it releases
    // none.
    using log = Deno.openSync(`${this.#path}-wal`);
    log.syncDataSync();
    this.#recount();
    this.#synced = true;
  }

  answer(question: Question): Answers[keyof Answers] {
    return this.#reader.answer(question);
  }

  /**
   * Removes the oldest records that retention does not keep.
   *
   * @param now Unix time in milliseconds
   * @param most the most records to remove
   * @returns how many it removed; fewer than `most` means that it is done
   */
  trim(retention: Retention, now: number, most: number): number {
    let removed = 0;
    this.#known.clear();
    this.#transaction(() => {
      removed = this.#retention.trim(retention, now, most);
      this.#recount();
    });
    return removed;
  }

  /** Whether {@link indexMore} may have something to do. */
  get isIndexBehind(): boolean {
    return this.#index.isBehind;
  }

  /** Indexes up to 2,048 messages for the search, so that it takes no longer than some writes. */
  indexMore(): void {
    this.#transaction(() => this.#index.build());
    this.#synced = false;
  }

  close(): void {
    this.#database.close();
  }

  /** Whether a change would remove records of the file, and there are none. */
  #isDone(operation: Operation): boolean {
    if (operation.kind === "forgetConfined") {
      const id = this.#reader.idOf(operation.target);
      return id === null || this.#hasConfined.get(id) === undefined;
    }
    if (operation.kind === "forgetAccount") {
      const before = operation.before ?? Number.MAX_SAFE_INTEGER;
      return this.#hasBefore.get(operation.account, before) === undefined;
    }
    return false;
  }

  #apply(operation: Operation): void {
    if (operation.kind === "append") return this.#append(operation);
    this.#countAdded();
    this.#known.clear();
    switch (operation.kind) {
      case "redact":
        return this.#redact(operation.id);
      case "confine":
        return this.#confine(operation.target);
      case "forgetConfined":
        return this.#forgetConfined(operation.target);
      case "forgetAccount":
        return this.#forgetAccount(operation.account, operation.before);
      case "rename":
        return this.#rename(operation);
    }
  }

  #append({ sequence, record }: Operation & { kind: "append" }): void {
    const { target, title, time, id, kind, confined, content } = record;
    const log = this.#growingLog(target, title);
    const { changes } = this.#addEntry.run(
      sequence,
      log.target,
      time,
      id,
      kind satisfies HistoryKind,
      confined ? 1 : 0,
      content,
    );
    log.uncounted += Number(changes);
    if (kind === 0 && changes > 0) log.size += sizeIn(content);
  }

  /** The log of a target. A transaction writes its row once, and counts its records at the end. */
  #growingLog({ account, name }: HistoryTarget, title: string): GrownLog {
    const key = `${account ?? ""} ${name}`;
    const growing = this.#growing.get(key);
    if (growing?.title === title) return growing;
    const { target } = this.#rowOf(key, { account, name }, title);
    const log = { target, title, uncounted: growing?.uncounted ?? 0, size: growing?.size ?? 0 };
    this.#growing.set(key, log);
    return log;
  }

  /** The row of a log with this title, which is written if it is new or has another title. */
  #rowOf(key: string, { account, name }: HistoryTarget, title: string): LogRow {
    const known = this.#known.get(key);
    if (known?.title === title) return known;
    const target = Number(this.#addTarget.get(account ?? "", name, title, 0)?.["id"]);
    const row = { target, title };
    if (this.#known.size >= MAX_KNOWN_LOGS) this.#known.clear();
    this.#known.set(key, row);
    return row;
  }

  /** Counts the added records, and looks up the logs again for the next one. */
  #countAdded(): void {
    for (const { target, uncounted, size } of this.#growing.values()) {
      this.#count.run(uncounted, target);
      this.#index.grown(target, size);
      this.#added.set(target, (this.#added.get(target) ?? 0) + uncounted);
    }
    this.#growing.clear();
  }

  #redact(id: string): void {
    const rows = this.#database.prepare(
      "UPDATE entries SET kind = 3, content = '' WHERE id = ? RETURNING target, sequence",
    ).all(id);
    for (const row of rows) {
      const [target, sequence] = [Number(row["target"]), Number(row["sequence"])];
      this.#index.drop(target, sequence, sequence);
    }
  }

  #confine(target: HistoryTarget): void {
    const id = this.#reader.idOf(target);
    if (id === null) return;
    this.#database.prepare("UPDATE entries SET confined = 1 WHERE target = ? AND confined = 0")
      .run(id);
  }

  #forgetConfined(target: HistoryTarget): void {
    const id = this.#reader.idOf(target);
    if (id === null) return;
    const { changes } = this.#database
      .prepare("DELETE FROM entries WHERE target = ? AND confined = 1").run(id);
    this.#count.run(-Number(changes), id);
    if (changes > 0) this.#index.dropAll(id);
  }

  #forgetAccount(account: string, before: number | null): void {
    const targets = this.#database.prepare("SELECT id FROM targets WHERE account = ?").all(account);
    const remove = this.#database.prepare("DELETE FROM entries WHERE target = ? AND time < ?");
    for (const row of targets) {
      const id = Number(row["id"]);
      const { changes } = remove.run(id, before ?? Number.MAX_SAFE_INTEGER);
      this.#count.run(-Number(changes), id);
      if (changes > 0) this.#index.dropAll(id);
    }
    this.#database.exec(FORGET_EMPTY);
  }

  /** An existing log of the new name stays, before the renamed channel's records. */
  #rename({ from, to, title }: Operation & { kind: "rename" }): void {
    const source = this.#reader.idOf(from);
    if (source === null) return;
    const target = Number(this.#addTarget.get("", to.name, title, 0)?.["id"]);
    if (source === target) return;
    const { changes } = this.#database
      .prepare("UPDATE entries SET target = ? WHERE target = ?").run(target, source);
    this.#count.run(Number(changes), target);
    this.#count.run(-Number(changes), source);
    this.#database.prepare(
      `UPDATE targets SET trimmed = max(trimmed, (SELECT trimmed FROM targets WHERE id = ?))
       WHERE id = ?`,
    ).run(source, target);
    for (const log of [source, target]) this.#index.dropAll(log);
    this.#index.recheck(target);
  }

  #recount(): void {
    this.#usedBytes = this.#retention.countBytes();
    this.#uncounted = 0;
  }

  #transaction(body: () => void): void {
    this.#begin.run();
    try {
      body();
      this.#commit.run();
    } catch (error) {
      this.#known.clear();
      rollBack(this.#database);
      throw error;
    }
  }
}
