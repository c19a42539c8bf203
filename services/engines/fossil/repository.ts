import { type Artifact, formatParsed } from "./artifact/mod.ts";
import { applyDelta, type HashPolicy, md5 } from "./codec/mod.ts";
import {
  type AccessOptions,
  Config,
  ContentStore,
  createDatabase,
  type CreateOptions,
  type Damage,
  type Database,
  type Examination,
  examine,
  openDatabase,
  type Origin,
  type SchemaState,
  shun,
  type StoreOptions,
  TouchedEvents,
  verifyArtifacts,
  type VerifyOptions,
} from "./content/mod.ts";
import {
  Crosslinker,
  type LinkChecks,
  rebuild,
  type RebuildOptions,
  type RebuildResult,
} from "./crosslink/mod.ts";
import { FossilError } from "./error.ts";

/** Options of `Repository.open`. */
export interface OpenOptions extends AccessOptions, StoreOptions {}

/** Options of `Repository.create`. */
export interface NewRepositoryOptions extends CreateOptions, StoreOptions {
  /** Moment of the first, empty check-in, in Unix milliseconds. */
  readonly date: number;
}

/** Result of receiving an artifact. */
export interface ReceiveResult {
  readonly rid: number;
  readonly isNew: boolean;
  /** The bytes are available; false for a delta whose source is missing. */
  readonly isAvailable: boolean;
}

/** How to receive an artifact. */
export interface ReceiveOptions {
  /** The expected name; required with `deltaSource`. */
  readonly hash?: string;
  /** Name of the delta's source. */
  readonly deltaSource?: string;
  readonly isPrivate?: boolean;
}

/** Looks at what a write receives. Each may throw: the whole transaction is then rolled back. */
export interface WriteChecks extends LinkChecks {
  /** Called when everything is linked, before the commit. */
  readonly conclude?: () => void;
}

/** No user and no address: the program acts by itself. */
const NOBODY: Origin = { user: null, ip: null };

/**
 * One open repository file. All reading happens in `read`, all writing in `write`; both are
 * transactions and can be nested. Synchronous: use it in a worker.
 */
export class Repository implements Disposable {
  readonly db: Database;
  readonly config: Config;
  readonly store: ContentStore;
  readonly #touched: TouchedEvents;
  readonly #crosslinker: Crosslinker;
  #schema: SchemaState;
  #depth = 0;
  #isWriting = false;
  /** Whether each `write` is a part of one transaction. */
  #isTogether = false;
  /** What a nested `write` of this transaction threw. */
  #failure: { readonly error: unknown } | null = null;
  #dataVersion = -1;

  constructor(db: Database, schema: SchemaState, options: StoreOptions) {
    this.db = db;
    this.#schema = schema;
    this.config = new Config(db);
    this.store = new ContentStore(db, this.config, options);
    this.#touched = new TouchedEvents(db);
    this.#crosslinker = new Crosslinker(db, this.config, this.store);
  }

  /**
   * Opens an existing repository.
   *
   * @throws {FossilError} `unsupported`; see `openDatabase` and `connectReadOnly`.
   */
  static open(path: string, options: OpenOptions = {}): Repository {
    const { db, schema } = openDatabase(path, options);
    return new Repository(db, schema, options);
  }

  /**
   * Makes a repository with its first, empty check-in on the branch "trunk".
   *
   * @throws {FossilError} `invalid` if the file exists or an option is malformed.
   */
  static create(path: string, options: NewRepositoryOptions): Repository {
    const repository = new Repository(createDatabase(path, options), "current", options);
    repository.write({ user: options.admin, ip: null }, () => {
      repository.add({
        kind: "manifest",
        baseline: null,
        comment: "initial empty check-in",
        date: options.date,
        files: [],
        mimetype: null,
        parents: [],
        cherrypicks: [],
        checksum: md5(""),
        tags: [
          { sign: "*", name: "branch", target: null, value: "trunk" },
          { sign: "*", name: "sym-trunk", target: null, value: null },
        ],
        user: options.admin,
      });
    });
    return repository;
  }

  /** Whether the derived tables are usable, or need a `rebuild` first. */
  get schema(): SchemaState {
    return this.#schema;
  }

  /** Whether a transaction that writes is open: reads now may see data that is never committed. */
  get isWriting(): boolean {
    return this.#isWriting || this.#isTogether;
  }

  /**
   * Changes whenever somebody may have done more to the links between check-ins, their changed files
   * and their times than adding some.
   */
  get relinked(): number {
    return this.#crosslinker.relinked;
  }

  /** How many events were written until now; see {@link TouchedEvents}. */
  get touchedEvents(): number {
    return this.#touched.position();
  }

  /** Rows of the events that were written since a number of them; null if they are forgotten. */
  eventsTouchedSince(number: number): readonly number[] | null {
    return this.#touched.since(number);
  }

  get hashPolicy(): HashPolicy {
    return this.store.hashPolicy();
  }

  /** Runs reads that see one state of the file. */
  read<T>(work: () => T): T {
    if (this.#depth > 0 || this.#isTogether) return this.#nested(work);
    this.db.exec("BEGIN");
    return this.#run(work, () => {});
  }

  /**
   * Runs work whose writes are one transaction, with one wait for the disk. A `write` may throw, and
   * the work go on, as long as the write has changed nothing; else the whole file stays as it was, as
   * after an error of the work. There are no savepoints: they would have SQLite write each page that
   * changes to a file of its own, too.
   *
   * @throws what the first write threw that had changed something
   */
  together<T>(work: () => T): T {
    if (this.#depth > 0 || this.#isTogether) {
      throw new Error("Cannot write together inside of a transaction");
    }
    this.#touched.begin();
    this.db.exec("BEGIN IMMEDIATE");
    this.#isTogether = true;
    this.#failure = null;
    try {
      this.#noticeOtherWriters();
      const result = work();
      this.#requireSuccess();
      this.db.exec("COMMIT");
      return result;
    } catch (error) {
      this.#dropCaches();
      this.db.rollBack();
      throw error;
    } finally {
      this.#isTogether = false;
    }
  }

  /**
   * Runs writes as one transaction. Before the commit, it completes the derived tables, reads back
   * everything that was written and checks it. If the work throws, the file stays as it was. There
   * are no savepoints inside: if a nested `write` throws, the outermost one throws the same error,
   * even if it was caught in between.
   *
   * @param origin user and address, for the table of received artifacts.
   * @param checks those of a nested `write` are ignored.
   */
  write<T>(origin: Origin, work: () => T, checks: WriteChecks = {}): T {
    if (this.#depth > 0 && this.#isWriting) return this.#nestedWrite(work);
    if (this.#depth > 0) throw new Error("Cannot write inside of read()");
    if (this.#schema !== "current") {
      throw new FossilError("unsupported", "The repository has an old schema: rebuild it first");
    }
    this.#crosslinker.begin(checks);
    return this.#write(origin, work, () => {
      this.#crosslinker.finish();
      checks.conclude?.();
    });
  }

  /**
   * Runs work that writes rows of tables which follow from each other already, as one transaction.
   * If it throws, the file stays as it was.
   */
  writeRows(work: (db: Database) => void): void {
    this.db.exec("BEGIN IMMEDIATE");
    try {
      work(this.db);
      this.db.exec("COMMIT");
    } catch (error) {
      this.db.rollBack();
      throw error;
    } finally {
      this.#dropCaches();
    }
  }

  #write<T>(origin: Origin, work: () => T, finish: () => void): T {
    this.#touched.begin();
    if (this.#isTogether) this.#requireSuccess();
    else {
      this.db.exec("BEGIN IMMEDIATE");
      this.#failure = null;
    }
    this.#isWriting = true;
    this.store.begin(origin);
    try {
      return this.#run(work, () => {
        this.#requireSuccess();
        finish();
        this.store.verifyTouched();
      });
    } finally {
      this.#isWriting = false;
    }
  }

  #requireSuccess(): void {
    if (this.#failure !== null) throw this.#failure.error;
  }

  #nestedWrite<T>(work: () => T): T {
    try {
      return this.#nested(work);
    } catch (error) {
      this.#failure ??= { error };
      throw error;
    }
  }

  #nested<T>(work: () => T): T {
    this.#depth++;
    try {
      return work();
    } finally {
      this.#depth--;
    }
  }

  /** Runs work in the open transaction, and ends the transaction unless others write in it too. */
  #run<T>(work: () => T, beforeCommit: () => void): T {
    this.#depth++;
    const before = this.#isTogether ? this.#changes() : 0;
    try {
      if (!this.#isTogether) this.#noticeOtherWriters();
      const result = work();
      beforeCommit();
      if (!this.#isTogether) this.db.exec("COMMIT");
      return result;
    } catch (error) {
      // A read that fails leaves nothing behind, and may fail for a wrong name.
      if (this.#isWriting) this.#dropCaches();
      if (!this.#isTogether) this.db.rollBack();
      else if (this.#changes() !== before) this.#failure ??= { error };
      throw error;
    } finally {
      this.#depth--;
    }
  }

  /** How many rows this connection has changed. */
  #changes(): number {
    return this.db.value<number>("SELECT total_changes()") ?? 0;
  }

  /** Clears the caches if another program has written since the last transaction. */
  #noticeOtherWriters(): void {
    const version = this.db.dataVersion();
    if (version === this.#dataVersion) return;
    this.#dropCaches();
    this.db.noticeSchema();
    this.#dataVersion = version;
  }

  #dropCaches(): void {
    this.#touched.forget();
    this.store.dropCaches();
    this.#crosslinker.dropCaches();
  }

  /** The parsed artifact of a row; null for a file and for missing content. */
  artifact(rid: number): Artifact | null {
    return this.#crosslinker.artifact(rid);
  }

  /**
   * Row of an artifact by its full name.
   *
   * @throws {FossilError} `missing` if the name is unknown.
   */
  ridOf(hash: string): number {
    const rid = this.store.ridOf(hash);
    if (rid === 0) throw new FossilError("missing", `Artifact "${hash}" is unknown`);
    return rid;
  }

  /** Writes a new artifact. Needs `write`. Returns its name. */
  add(artifact: Artifact, options: { readonly isPrivate?: boolean } = {}): string {
    const { bytes, parsed } = formatParsed(artifact, this.#crosslinker.files);
    const { rid } = this.#receiveContent(bytes, options, parsed);
    return this.store.hashOf(rid) ?? "";
  }

  /**
   * Receives any bytes: file or artifact, full text or delta, expected or not. Updates the derived
   * tables at once. Needs `write`.
   *
   * @throws {FossilError} `corrupt` if the bytes do not have the given name; `invalid` if the name
   * is shunned or the hash policy refuses it; `limit` if they are too large.
   */
  receive(bytes: Uint8Array, options: ReceiveOptions = {}): ReceiveResult {
    const { hash, deltaSource, isPrivate = false } = options;
    if (hash?.length === 40 && this.hashPolicy === "shun-sha1") {
      throw new FossilError("invalid", `Artifact "${hash}" has a SHA1 name, which is not accepted`);
    }
    if (deltaSource === undefined) return this.#receiveContent(bytes, options);
    if (hash === undefined) throw new FossilError("invalid", "A delta needs a name");
    const source = this.store.ridOrPhantom(deltaSource, isPrivate);
    if (source === 0) throw new FossilError("invalid", `Artifact "${deltaSource}" is shunned`);
    const base = this.store.get(source);
    if (base !== null) return this.#receiveContent(applyDelta(base, bytes), options);
    const { rid, isNew } = this.store.putDangling(bytes, hash, source, isPrivate);
    if (isNew) this.#crosslinker.noteDangling(rid);
    return { rid, isNew, isAvailable: this.store.isAvailable(rid) };
  }

  /** @param parsed the parsed bytes, if known. */
  #receiveContent(
    bytes: Uint8Array,
    options: ReceiveOptions,
    parsed?: Artifact,
  ): ReceiveResult {
    const { rid, isNew, wasAwaited } = this.store.put(bytes, options);
    if (wasAwaited) this.#crosslinker.noteArrival();
    const dependents = wasAwaited ? this.#crosslinker.waitingFor(rid) : [];
    if (isNew) this.#crosslinker.link(rid, bytes, parsed);
    this.#crosslinker.linkArrived(dependents);
    return { rid, isNew, isAvailable: true };
  }

  /**
   * Runs work that writes a whole history in many transactions. The times of the timeline depend on
   * the whole history, so they are computed at the end, as in a rebuild.
   */
  writeHistory<T>(work: () => T): T {
    this.#crosslinker.deferNudges();
    const result = work();
    this.#crosslinker.begin({});
    this.#write(NOBODY, () => {}, () => this.#crosslinker.finishRebuild());
    return result;
  }

  /** Computes every derived table again, in one transaction. */
  rebuild(options: RebuildOptions = {}): RebuildResult {
    if (this.#depth > 0 || this.#isTogether) {
      throw new Error("Cannot rebuild inside of a transaction");
    }
    const { db, config, store } = this;
    this.#crosslinker.begin({});
    const work = () => rebuild(db, config, store, this.#crosslinker, options);
    const result = this.#write(NOBODY, work, () => {});
    this.#dropCaches();
    this.#schema = "current";
    return result;
  }

  /**
   * Makes rows of tickets again when the transaction ends. Needs `write`.
   *
   * @param fields the fields whose columns were added or removed, if all other columns are complete:
   * only tickets with a change that names one are made again; null for all tickets
   */
  relinkTickets(fields: readonly string[] | null): void {
    this.#crosslinker.relinkTickets(fields);
  }

  /** Decodes and hashes every artifact. Returns those that do not match their hashes. */
  verify(options?: VerifyOptions): Damage[] {
    return this.read(() => verifyArtifacts(this.db, this.store, options));
  }

  /** Like `verify`, but also runs SQLite's integrity check and looks for missing content. */
  examine(options?: VerifyOptions): Examination {
    return this.read(() => examine(this.db, this.store, options));
  }

  /** Refuses an artifact from now on; the next rebuild deletes it. Needs `write`. */
  shun(hash: string, reason?: string): void {
    shun(this.db, hash, reason);
  }

  /** Moves the write-ahead log into the file, so that a copy of the file alone is complete. */
  checkpoint(): void {
    this.db.checkpoint();
  }

  /** Like `checkpoint`, without waiting: pages that somebody still reads stay in the log. */
  settle(): boolean {
    return this.db.settle();
  }

  /** Closes the file. */
  close(): void {
    this.db.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}
