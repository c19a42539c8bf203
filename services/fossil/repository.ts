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
  type Progress,
  type SchemaState,
  shun,
  type StoreOptions,
  verifyArtifacts,
  type VerifyOptions,
} from "./content/mod.ts";
import { Crosslinker, type Inspect, rebuild, type RebuildResult } from "./crosslink/mod.ts";
import { FossilError } from "./error.ts";

/** Options of `Repository.open`. */
export interface OpenOptions extends AccessOptions, StoreOptions {}

/** Options of `Repository.create`. */
export interface NewRepositoryOptions extends CreateOptions, StoreOptions {
  /** Moment of the first, empty check-in, in Unix milliseconds. */
  readonly date: number;
}

/** What became of an artifact that was received. */
export interface ReceiveResult {
  readonly rid: number;
  readonly isNew: boolean;
  /** The bytes can be had; false for a delta whose source is not here yet. */
  readonly isAvailable: boolean;
}

/** How an artifact was received. */
export interface ReceiveOptions {
  /** The name it must have; required with `deltaSource`. */
  readonly hash?: string;
  /** Name of the artifact that the bytes are a delta of. */
  readonly deltaSource?: string;
  readonly isPrivate?: boolean;
}

/** No user and no address: what a program does on its own. */
const NOBODY: Origin = { user: null, ip: null };

/**
 * One open repository file. All reading happens in `read`, all writing in `write`; both are
 * transactions and can be nested. Synchronous: to be used in a worker.
 */
export class Repository implements Disposable {
  readonly db: Database;
  readonly config: Config;
  readonly store: ContentStore;
  readonly #crosslinker: Crosslinker;
  #schema: SchemaState;
  #depth = 0;
  #isWriting = false;
  /** What a nested `write` of this transaction threw. */
  #failure: { readonly error: unknown } | null = null;
  #dataVersion = -1;

  constructor(db: Database, schema: SchemaState, options: StoreOptions) {
    this.db = db;
    this.#schema = schema;
    this.config = new Config(db);
    this.store = new ContentStore(db, this.config, options);
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

  /** Whether a `write` is under way: what is read now may never be committed. */
  get isWriting(): boolean {
    return this.#isWriting;
  }

  get hashPolicy(): HashPolicy {
    return this.store.hashPolicy();
  }

  /** Runs reads that see one state of the file. */
  read<T>(work: () => T): T {
    if (this.#depth > 0) return this.#nested(work);
    this.db.exec("BEGIN");
    return this.#run(work, () => {});
  }

  /**
   * Runs writes as one transaction: derived tables are completed and everything written is read
   * back and checked before it is committed. Where the work throws, the file is as it was. There
   * are no savepoints: if a nested `write` throws, the outermost one throws the same error, even if
   * somebody caught it on its way.
   *
   * @param origin who does it, for the record of received artifacts.
   * @param inspect sees every structural artifact before it counts, and may throw.
   */
  write<T>(origin: Origin, work: () => T, inspect: Inspect | null = null): T {
    if (this.#depth > 0 && this.#isWriting) return this.#nestedWrite(work);
    if (this.#depth > 0) throw new Error("Cannot write inside of read()");
    if (this.#schema !== "current") {
      throw new FossilError("unsupported", "The repository has an old schema: rebuild it first");
    }
    this.#crosslinker.begin(inspect);
    return this.#write(origin, work, () => this.#crosslinker.finish());
  }

  #write<T>(origin: Origin, work: () => T, finish: () => void): T {
    this.db.exec("BEGIN IMMEDIATE");
    this.#isWriting = true;
    this.#failure = null;
    this.store.begin(origin);
    try {
      return this.#run(work, () => {
        if (this.#failure !== null) throw this.#failure.error;
        finish();
        this.store.verifyTouched();
      });
    } finally {
      this.#isWriting = false;
    }
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

  /** Runs work in the transaction that has begun, and ends it. */
  #run<T>(work: () => T, beforeCommit: () => void): T {
    this.#depth++;
    try {
      this.#noticeOtherWriters();
      const result = work();
      beforeCommit();
      this.db.exec("COMMIT");
      return result;
    } catch (error) {
      this.#dropCaches();
      this.db.rollBack();
      throw error;
    } finally {
      this.#depth--;
    }
  }

  /** Another program may have written since the last transaction: then memory is out of date. */
  #noticeOtherWriters(): void {
    const version = this.db.dataVersion();
    if (version !== this.#dataVersion) this.#dropCaches();
    this.#dataVersion = version;
  }

  #dropCaches(): void {
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

  /** Writes an artifact that we made. Needs `write`. Returns its name. */
  add(artifact: Artifact, options: { readonly isPrivate?: boolean } = {}): string {
    const { bytes, parsed } = formatParsed(artifact, this.#crosslinker.files);
    const { rid } = this.#receiveContent(bytes, options, parsed);
    return this.store.hashOf(rid) ?? "";
  }

  /**
   * Takes bytes in, whatever they are: file or artifact, full text or delta, expected or not. What
   * they say is put into the derived tables at once. Needs `write`.
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
    return { rid, isNew, isAvailable: this.store.isAvailable(rid) };
  }

  /** @param parsed the artifact that the bytes are, if that is known. */
  #receiveContent(
    bytes: Uint8Array,
    options: ReceiveOptions,
    parsed?: Artifact,
  ): ReceiveResult {
    const { rid, isNew, wasAwaited } = this.store.put(bytes, options);
    const dependents = wasAwaited ? this.#crosslinker.waitingFor(rid) : [];
    if (isNew) this.#crosslinker.link(rid, bytes, parsed);
    this.#crosslinker.linkArrived(dependents);
    return { rid, isNew, isAvailable: true };
  }

  /**
   * Runs work that makes a whole history in many transactions. What depends on the whole of it,
   * the times of the timeline, is computed at the end, as a rebuild does.
   */
  writeHistory<T>(work: () => T): T {
    this.#crosslinker.deferNudges();
    const result = work();
    this.#crosslinker.begin(null);
    this.#write(NOBODY, () => {}, () => this.#crosslinker.finishRebuild());
    return result;
  }

  /** Computes every derived table anew, as one transaction. */
  rebuild(progress?: Progress): RebuildResult {
    if (this.#depth > 0) throw new Error("Cannot rebuild inside of a transaction");
    const { db, config, store } = this;
    this.#crosslinker.begin(null);
    const work = () => rebuild(db, config, store, this.#crosslinker, progress);
    const result = this.#write(NOBODY, work, () => {});
    this.#schema = "current";
    return result;
  }

  /** Decodes and hashes every artifact. Gives those that are not what their names say. */
  verify(options?: VerifyOptions): Damage[] {
    return this.read(() => verifyArtifacts(this.db, this.store, options));
  }

  /** Like `verify`, after SQLite's integrity check of the file; looks for missing content too. */
  examine(options?: VerifyOptions): Examination {
    return this.read(() => examine(this.db, this.store, options));
  }

  /** Refuses an artifact from now on; a rebuild takes it out. Needs `write`. */
  shun(hash: string, reason?: string): void {
    shun(this.db, hash, reason);
  }

  /** Moves the write-ahead log into the file, so that a copy of the file alone is complete. */
  checkpoint(): void {
    this.db.checkpoint();
  }

  /** Like `checkpoint`, as far as that goes at once: what somebody still reads stays in the log. */
  settle(): void {
    this.db.settle();
  }

  /** Closes the file. */
  close(): void {
    this.db.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}
