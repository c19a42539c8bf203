import {
  deltaTargetLength,
  type HashPolicy,
  isArtifactHash,
  MAX_ARTIFACT_BYTES,
  packBlob,
  sha3,
} from "../codec/mod.ts";
import { FossilError } from "../error.ts";
import { ArtifactReader } from "./artifact_reader.ts";
import { BlobContents } from "./blob_contents.ts";
import type { Config } from "./config.ts";
import type { Database } from "./database.ts";
import { Deltas, MIN_DELTA_BYTES, staysWhole, worthwhileDelta } from "./deltas.ts";
import { Names } from "./names.ts";
import type { Origin, PutOptions, PutResult, StoredArtifact, StoreOptions } from "./store_types.ts";

/** Default size of the cache of artifacts, in bytes. */
const CACHE_BYTES = 64 * 1024 * 1024;

/**
 * The artifacts of a repository as bytes: tables blob, delta, phantom, private, shun, rcvfrom,
 * unclustered. Does not interpret the bytes. Every method that writes needs a transaction.
 */
export class ContentStore {
  readonly #db: Database;
  readonly #maxBytes: number;
  readonly #isDraft: boolean;
  readonly #names: Names;
  readonly #private: PrivateRows;
  readonly #touched = new Set<number>();
  readonly #deltas: Deltas;
  readonly #receipt: Receipt;
  readonly #contents: BlobContents;
  readonly #reader: ArtifactReader;

  constructor(db: Database, config: Config, options: StoreOptions = {}) {
    this.#db = db;
    this.#maxBytes = options.maxArtifactBytes ?? MAX_ARTIFACT_BYTES;
    this.#isDraft = options.isDraft ?? false;
    this.#contents = new BlobContents(db, {
      maxBytes: this.#maxBytes,
      unpackedBytes: options.unpackedBytes,
      isDraft: this.#isDraft,
    });
    this.#names = new Names(db, config, options.sha3 ?? sha3);
    this.#private = new PrivateRows(db);
    this.#deltas = new Deltas(db);
    this.#receipt = new Receipt(db);
    this.#reader = new ArtifactReader({
      db,
      contents: this.#contents,
      deltas: this.#deltas,
      cacheBytes: options.cacheBytes ?? CACHE_BYTES,
      maxBytes: this.#maxBytes,
    });
  }

  /** Starts the bookkeeping of a transaction. */
  begin(origin: Origin): void {
    this.#receipt.begin(origin);
    this.#touched.clear();
    this.#private.forget();
    this.#contents.clear();
  }

  /** Bytes of artifacts that it caches. */
  get cachedBytes(): number {
    return this.#reader.cache.weight;
  }

  /** Clears the caches, because another program wrote or a transaction was rolled back. */
  dropCaches(): void {
    this.#reader.clear();
    this.#names.clear();
    this.#deltas.forget();
    this.#private.forget();
    this.#touched.clear();
    this.#contents.clear();
    this.#receipt.forget();
  }

  /** The row of `rcvfrom` of this transaction. */
  receipt(): number {
    return this.#receipt.row();
  }

  /** Whether this transaction has a row in `rcvfrom`, because it received something. */
  get hasReceipt(): boolean {
    return this.#receipt.exists;
  }

  /** Row id of an artifact or phantom, 0 if the name is unknown. */
  ridOf(hash: string): number {
    return this.#names.ridOf(hash);
  }

  /** Whether the repository refuses a name. */
  isShunned(hash: string): boolean {
    return this.#names.isShunned(hash);
  }

  /** Name of an artifact or phantom, undefined if there is no such row. */
  hashOf(rid: number): string | undefined {
    return this.#reader.hashOf(rid);
  }

  /** Size of an artifact in bytes, -1 for a phantom and for a row that does not exist. */
  sizeOf(rid: number): number {
    return this.#reader.sizeOf(rid);
  }

  /** Row of the artifact's delta source, 0 for full text. */
  sourceOf(rid: number): number {
    return this.#deltas.sourceOf(rid);
  }

  /** See {@link ArtifactReader.get}. */
  get(rid: number): Uint8Array | null {
    return this.#reader.get(rid);
  }

  /** Like `get`, but throws if the content is missing. */
  require(rid: number): Uint8Array {
    return this.#reader.require(rid);
  }

  /** The delta by which an artifact is stored: see `sourceOf`. Null for a phantom. */
  getDelta(rid: number): Uint8Array | null {
    return this.#contents.get(rid);
  }

  /** See {@link ArtifactReader.getStored}. */
  getStored(rid: number, source: Uint8Array | null): StoredArtifact | null {
    return this.#reader.getStored(rid, source);
  }

  /** Like `getStored`, but uses the cache and adds the artifact to it. */
  getKept(rid: number, source: Uint8Array | null): StoredArtifact | null {
    return this.#reader.getKept(rid, source);
  }

  /** Like `get`, with hash and size from the row. */
  getRow(rid: number): StoredArtifact | null {
    return this.#reader.getRow(rid);
  }

  /** Whether the bytes are available: no phantom, and no delta that depends on one. */
  isAvailable(rid: number): boolean {
    return this.#reader.isAvailable(rid);
  }

  /** Whether this transaction has changed how an artifact is stored. */
  isTouched(rid: number): boolean {
    return this.#touched.has(rid);
  }

  /** The policy by which new artifacts are named. */
  hashPolicy(): HashPolicy {
    return this.#names.policy();
  }

  /** The name that content has or would get in this repository. */
  nameOf(content: Uint8Array): string {
    return this.#names.nameOf(content);
  }

  /**
   * Stores content as full text. Existing content stays as it is; a phantom gets its bytes.
   *
   * @throws {FossilError} `corrupt` if the content does not have the given name; `invalid` if the
   * name is shunned or not a hash; `limit` if it is too large.
   */
  put(content: Uint8Array, options: PutOptions = {}): PutResult {
    if (content.length > this.#maxBytes) {
      throw new FossilError("limit", `Artifact of ${content.length} bytes is too large`);
    }
    if (options.hash !== undefined && !this.#names.fits(content, options.hash)) {
      throw new FossilError("corrupt", `Content does not have the hash "${options.hash}"`);
    }
    const hash = options.hash ?? this.nameOf(content);
    const result = this.#store(hash, content, {
      size: content.length,
      isPrivate: options.isPrivate ?? false,
      isDelta: false,
    });
    if (result.isNew) this.#reader.cache.set(result.rid, content);
    return result;
  }

  /**
   * Stores a delta whose source is not available yet (a phantom, or a delta that depends on one).
   * It can be checked only when the source arrives; see `checkArrival`.
   *
   * @throws {FossilError} `corrupt` if the source is a delta that depends on this one.
   */
  putDangling(delta: Uint8Array, hash: string, source: number, isPrivate = false): PutResult {
    const size = deltaTargetLength(delta);
    if (size > this.#maxBytes) throw new FossilError("limit", `Delta declares ${size} bytes`);
    if (this.dependsOn(source, hash)) {
      throw new FossilError(
        "corrupt",
        `Delta of "${hash}" depends on itself. Fossil sends such deltas if a new check-in that ` +
          "reverts a file was amended into the past: set its date back, push, and amend it again",
      );
    }
    const result = this.#store(hash, delta, { size, isPrivate, isDelta: true });
    if (result.isNew) this.#deltas.set(result.rid, source);
    return result;
  }

  /** Whether an artifact is stored, link by link, as a delta of a missing one with this name. */
  dependsOn(rid: number, hash: string): boolean {
    const end = this.#deltas.endOf(rid);
    return end === this.ridOf(hash) && this.sizeOf(end) < 0;
  }

  /**
   * Drops the content of an artifact that waits for a missing one, and of those between the two.
   * Their names stay, so that a peer can send them again.
   */
  forgetChain(rid: number): void {
    for (let next = rid; next !== 0;) {
      const source = this.sourceOf(next);
      if (source !== 0) this.forget(next);
      next = source;
    }
  }

  /** Whether the source of a delta is missing. A wrong one must not keep the right content out. */
  #isDangling(rid: number): boolean {
    return this.sourceOf(rid) !== 0 && !this.isAvailable(rid);
  }

  #store(
    hash: string,
    stored: Uint8Array,
    { size, isPrivate, isDelta }: {
      readonly size: number;
      readonly isPrivate: boolean;
      readonly isDelta: boolean;
    },
  ): PutResult {
    if (!isArtifactHash(hash)) {
      throw new FossilError("invalid", `"${hash}" is not an artifact hash`);
    }
    if (this.#names.isShunned(hash)) {
      throw new FossilError("invalid", `Artifact "${hash}" is shunned`);
    }
    this.#names.note(hash);
    const known = this.#db.row<{ rid: number; size: number }>(
      "SELECT rid, size FROM blob WHERE uuid=?",
      hash,
    );
    if (known !== undefined && known.size >= 0) {
      if (isDelta || !this.#isDangling(known.rid)) {
        return { rid: known.rid, isNew: false, wasAwaited: false };
      }
      this.forget(known.rid);
    }
    const rcvid = this.#receipt.row();
    let rid = known?.rid;
    if (rid === undefined) {
      rid = this.#db.insert("INSERT INTO blob(rcvid,size,uuid) VALUES(?,?,?)", rcvid, size, hash);
      this.#reader.deadEnds.forget(rid);
      if (!isPrivate) this.#db.run("INSERT OR IGNORE INTO unclustered VALUES(?)", rid);
    } else {
      this.#reader.deadEnds.clear();
      this.#db.run("UPDATE blob SET rcvid=?, size=? WHERE rid=?", rcvid, size, rid);
      this.#db.run("DELETE FROM phantom WHERE rid=?", rid);
    }
    this.#contents.set(rid, stored);
    if (isPrivate) this.makePrivate(rid);
    this.#touched.add(rid);
    return { rid, isNew: true, wasAwaited: known !== undefined };
  }

  /** Row of a name; an unknown name gets a phantom. 0 for a shunned name. */
  ridOrPhantom(hash: string, isPrivate = false): number {
    const known = this.ridOf(hash);
    if (known !== 0) return known;
    if (this.#names.isShunned(hash)) return 0;
    const rid = this.#db.insert(
      "INSERT INTO blob(rcvid,size,uuid,content) VALUES(0,-1,?,NULL)",
      hash,
    );
    this.#db.run("INSERT INTO phantom VALUES(?)", rid);
    if (isPrivate) this.makePrivate(rid);
    else this.#db.run("INSERT INTO unclustered VALUES(?)", rid);
    return rid;
  }

  /** Artifacts that are stored as deltas of this one. */
  dependents(rid: number): number[] {
    return this.#deltas.dependents(rid);
  }

  /**
   * Checks a delta whose source has arrived. If the content does not have its hash, it becomes a
   * phantom again, so that another peer can send the right content. Right content counts as received
   * now, with what it waited for.
   *
   * @returns whether the content is right.
   */
  checkArrival(rid: number): boolean {
    try {
      if (this.#names.fits(this.require(rid), this.hashOf(rid) ?? "")) {
        this.#db.run("UPDATE blob SET rcvid=? WHERE rid=?", this.#receipt.row(), rid);
        return true;
      }
    } catch (error) {
      if (!(error instanceof FossilError)) throw error;
    }
    this.forget(rid);
    return false;
  }

  /** Drops the content of an artifact and keeps its name, so that another peer can send it again. */
  forget(rid: number): void {
    this.#reader.cache.delete(rid);
    this.#touched.delete(rid);
    this.#contents.delete(rid);
    this.#deltas.delete(rid);
    this.#db.run("UPDATE blob SET rcvid=0, size=-1, content=NULL WHERE rid=?", rid);
    this.#db.run("INSERT OR IGNORE INTO phantom VALUES(?)", rid);
  }

  /**
   * Stores an artifact as a delta of another, by Fossil's rules: the older becomes a delta of the
   * newer, so that the content that is read most is full text.
   */
  deltify(rid: number, source: number): void {
    if (rid === 0 || rid === source || this.sourceOf(rid) !== 0) return;
    if (!this.isAvailable(rid) || !this.isAvailable(source)) return;
    if (this.isPrivate(source) && !this.isPrivate(rid)) return;
    const target = this.require(rid);
    if (target.length < MIN_DELTA_BYTES || staysWhole(this.hashOf(rid) ?? "")) return;
    if (this.#deltas.endOf(source) === rid) {
      this.undelta(source);
      return;
    }
    const delta = worthwhileDelta(this.require(source), target);
    if (delta === null) return;
    this.#contents.delete(rid);
    this.#db.run("UPDATE blob SET content=? WHERE rid=?", packBlob(delta), rid);
    this.#deltas.set(rid, source);
    this.#touched.add(rid);
  }

  /** Stores an artifact as full text. Does nothing if its bytes are not available. */
  undelta(rid: number): void {
    if (this.sourceOf(rid) === 0) return;
    const content = this.get(rid);
    if (content === null) return;
    this.#contents.delete(rid);
    const update = "UPDATE blob SET content=?, size=? WHERE rid=?";
    this.#db.run(update, packBlob(content), content.length, rid);
    this.#deltas.delete(rid);
    this.#touched.add(rid);
  }

  isPrivate(rid: number): boolean {
    return this.#private.has(rid);
  }

  /** Keeps an artifact from being synchronised. */
  makePrivate(rid: number): void {
    this.#private.add(rid);
    this.#db.run("DELETE FROM unclustered WHERE rid=?", rid);
  }

  /**
   * Like `makePrivate`, for an artifact that a tag makes private; other repositories may know it.
   */
  notePrivate(rid: number): void {
    this.#private.add(rid);
    for (const dependent of this.dependents(rid)) this.exposeNothing(dependent);
  }

  /** A public artifact is never a delta of a private one, which others cannot have. */
  exposeNothing(rid: number): void {
    if (this.isPrivate(this.sourceOf(rid)) && !this.isPrivate(rid)) this.undelta(rid);
  }

  /** Lets an artifact be synchronised. */
  makePublic(rid: number): void {
    if (!this.#private.delete(rid)) return;
    this.exposeNothing(rid);
    this.#db.run("INSERT OR IGNORE INTO unclustered VALUES(?)", rid);
  }

  /** Deletes an artifact. No other artifact may be stored as a delta of it. */
  remove(rid: number): void {
    this.#deltas.delete(rid);
    this.#private.delete(rid);
    this.#db.run("DELETE FROM blob WHERE rid=?", rid);
    this.#names.clear();
    this.#touched.delete(rid);
    this.#contents.delete(rid);
    this.#reader.forget(rid);
  }

  /**
   * Reads back everything that this transaction wrote, from the file and not from memory, and
   * checks the hashes. Starts with the newest, because older ones are deltas of it. Call this
   * before COMMIT. In a draft nothing is read back.
   *
   * @throws {FossilError} `corrupt`: roll the transaction back.
   */
  verifyTouched(): void {
    this.#contents.packAll();
    if (!this.#isDraft) {
      this.#reader.cache.clear();
      for (const rid of [...this.#touched].reverse()) this.verify(rid);
    }
    this.#touched.clear();
  }

  /** Checks that an artifact decodes to content with its hash; phantoms pass. */
  verify(rid: number): void {
    const content = this.get(rid);
    if (content === null || this.#names.fits(content, this.hashOf(rid) ?? "")) return;
    throw new FossilError("corrupt", `Artifact "${this.hashOf(rid)}" does not have its hash`);
  }
}

/** The table `private`: artifacts that are not synchronised. Most repositories have none. */
class PrivateRows {
  readonly #db: Database;
  /** Whether the table has no row; null while that is not known. */
  #isEmpty: boolean | null = null;

  constructor(db: Database) {
    this.#db = db;
  }

  /** Clears the cache, because a transaction begins or was rolled back. */
  forget(): void {
    this.#isEmpty = null;
  }

  has(rid: number): boolean {
    this.#isEmpty ??= !this.#db.exists("SELECT 1 FROM private");
    return !this.#isEmpty && this.#db.exists("SELECT 1 FROM private WHERE rid=?", rid);
  }

  add(rid: number): void {
    this.#isEmpty = false;
    this.#db.run("INSERT OR IGNORE INTO private(rid) VALUES(?)", rid);
  }

  /** Returns whether the row was there. */
  delete(rid: number): boolean {
    return this.has(rid) && this.#db.run("DELETE FROM private WHERE rid=?", rid) > 0;
  }
}

/** The table `rcvfrom`: the origin of a transaction's content. */
class Receipt {
  readonly #db: Database;
  #origin: Origin = { user: null, ip: null };
  #rcvid = 0;

  constructor(db: Database) {
    this.#db = db;
  }

  /** Starts a transaction. */
  begin(origin: Origin): void {
    this.#origin = origin;
    this.forget();
  }

  /** Forgets the row, because the transaction was rolled back. */
  forget(): void {
    this.#rcvid = 0;
  }

  /** Whether this transaction has a row. */
  get exists(): boolean {
    return this.#rcvid !== 0;
  }

  /** The row of this transaction, inserted with its first new content. */
  row(): number {
    if (this.#rcvid === 0) {
      this.#rcvid = this.#db.insert(
        `INSERT INTO rcvfrom(uid,mtime,nonce,ipaddr)
         VALUES((SELECT uid FROM user WHERE login=?),julianday('now'),?,?)`,
        this.#origin.user,
        this.#origin.mark ?? null,
        this.#origin.ip,
      );
    }
    return this.#rcvid;
  }
}
