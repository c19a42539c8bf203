import { BoundedMap } from "../../../kernel/bounded_map.ts";
import { applyDelta } from "../codec/mod.ts";
import { FossilError } from "../error.ts";
import type { BlobContents } from "./blob_contents.ts";
import type { Database } from "./database.ts";
import type { Deltas } from "./deltas.ts";
import type { StoredArtifact } from "./store_types.ts";

/** Most names that are remembered; each takes about 150 bytes. */
const MAX_HASHES = 20_000;
/** Of a delta chain, every artifact at this distance is cached. */
const CACHED_LINK = 8;

export interface ArtifactReaderOptions {
  readonly db: Database;
  readonly contents: BlobContents;
  readonly deltas: Deltas;
  readonly cacheBytes: number;
  /** Largest artifact, in bytes. */
  readonly maxBytes: number;
}

/** Reads artifacts: undoes their deltas, and caches what that gives. */
export class ArtifactReader {
  /** Artifacts by their rows. */
  readonly cache: BoundedMap<number, Uint8Array>;
  /** Rows whose bytes are known to be missing. */
  readonly deadEnds = new DeadEnds();
  readonly #db: Database;
  readonly #contents: BlobContents;
  readonly #deltas: Deltas;
  readonly #maxBytes: number;
  /** Names by their rows. */
  readonly #hashes = new Map<number, string>();

  constructor(options: ArtifactReaderOptions) {
    this.cache = new BoundedMap({
      most: options.cacheBytes,
      mostOfOne: options.cacheBytes / 4,
      weigh: ({ length }) => length,
    });
    this.#db = options.db;
    this.#contents = options.contents;
    this.#deltas = options.deltas;
    this.#maxBytes = options.maxBytes;
  }

  /** Clears what is remembered. */
  clear(): void {
    this.cache.clear();
    this.deadEnds.clear();
    this.#hashes.clear();
  }

  /** Forgets an artifact whose row is deleted. */
  forget(rid: number): void {
    this.cache.delete(rid);
    this.#hashes.delete(rid);
  }

  /** Name of an artifact or phantom, undefined if there is no such row. */
  hashOf(rid: number): string | undefined {
    const known = this.#hashes.get(rid);
    if (known !== undefined) return known;
    const hash = this.#db.value<string>("SELECT uuid FROM blob WHERE rid=?", rid);
    if (hash === undefined) return undefined;
    if (this.#hashes.size >= MAX_HASHES) this.#hashes.clear();
    this.#hashes.set(rid, hash);
    return hash;
  }

  /** Size of an artifact in bytes, -1 for a phantom and for a row that does not exist. */
  sizeOf(rid: number): number {
    return this.#db.value<number>("SELECT size FROM blob WHERE rid=?", rid) ?? -1;
  }

  /**
   * The bytes of an artifact; null for a phantom and for a delta that depends on one. The bytes are
   * shared with the cache: do not write to them.
   *
   * @throws {FossilError} `corrupt` or `limit` if the stored bytes do not decode.
   */
  get(rid: number): Uint8Array | null {
    const chain: number[] = [];
    let base = this.cache.get(rid);
    for (let [next, landmark] = [rid, rid]; base === undefined;) {
      chain.push(next);
      if (this.deadEnds.has(next)) return this.deadEnds.add(chain);
      const source = this.#deltas.sourceOf(next);
      if (source === 0) break;
      if (source === landmark) return this.deadEnds.add(chain, "loop");
      if ((chain.length & (chain.length - 1)) === 0) landmark = source;
      next = source;
      base = this.cache.get(next);
    }
    for (let i = chain.length - 1; i >= 0; i--) {
      const stored = this.#contents.get(chain[i]!);
      if (stored === null) return this.deadEnds.add(chain.slice(0, i + 1), "phantom");
      base = base === undefined ? stored : applyDelta(base, stored, this.#maxBytes);
      if (i % CACHED_LINK === 0) this.cache.set(chain[i]!, base);
    }
    return base ?? null;
  }

  /** Like `get`, but throws if the content is missing. */
  require(rid: number): Uint8Array {
    const content = this.get(rid);
    if (content !== null) return content;
    throw new FossilError("missing", `Content of artifact "${this.hashOf(rid) ?? rid}" is missing`);
  }

  /**
   * An artifact read from its row: full text, or a delta of the bytes that the caller passes. Null
   * for a phantom. Bypasses the cache.
   *
   * @param source bytes of the artifact that the row is a delta of; null for full text.
   */
  getStored(rid: number, source: Uint8Array | null): StoredArtifact | null {
    const row = this.#contents.row(rid);
    if (row === null) return null;
    const { hash, size, stored } = row;
    return { hash, size, content: source ? applyDelta(source, stored, this.#maxBytes) : stored };
  }

  /** Like `getStored`, but uses the cache and adds the artifact to it. */
  getKept(rid: number, source: Uint8Array | null): StoredArtifact | null {
    if (this.cache.get(rid) !== undefined) return this.getRow(rid);
    const artifact = this.getStored(rid, source);
    if (artifact !== null) this.cache.set(rid, artifact.content);
    return artifact;
  }

  /** Like `get`, with hash and size from the row. */
  getRow(rid: number): StoredArtifact | null {
    const content = this.get(rid);
    const row = this.#db.row<{ uuid: string; size: number }>(
      "SELECT uuid, size FROM blob WHERE rid=?",
      rid,
    );
    return content && { hash: row?.uuid ?? "", size: row?.size ?? -1, content };
  }

  /** Whether the bytes are available: no phantom, and no delta that depends on one. */
  isAvailable(rid: number): boolean {
    if (rid === 0 || this.deadEnds.has(rid)) return false;
    return this.sizeOf(this.#deltas.endOf(rid)) >= 0;
  }
}

/** Why a delta chain gives no content. */
type Reason = "phantom" | "loop";

/** Most artifacts to remember. */
const MAX_REMEMBERED = 1_000_000;

/**
 * Artifacts whose delta chains end without content. They are remembered, so that a long chain is
 * walked only once and not from each of its links.
 */
class DeadEnds {
  readonly #reasons = new Map<number, Reason>();

  has(rid: number): boolean {
    return this.#reasons.has(rid);
  }

  /**
   * Remembers a chain that ends at a phantom, at a remembered artifact, or never.
   *
   * @returns null if a phantom's content is missing.
   * @throws {FossilError} `corrupt` if the chain is a loop.
   */
  add(chain: readonly number[], end?: Reason): null {
    const reason = end ?? this.#reasons.get(chain.at(-1) ?? 0) ?? "phantom";
    if (this.#reasons.size > MAX_REMEMBERED) this.#reasons.clear();
    for (const rid of chain) this.#reasons.set(rid, reason);
    if (reason === "phantom") return null;
    throw new FossilError("corrupt", `Delta chain of artifact ${chain[0]} is a loop`);
  }

  /** Call this after a row was created again; no delta depends on it yet. */
  forget(rid: number): void {
    this.#reasons.delete(rid);
  }

  /** Call this when content has arrived, or may have. */
  clear(): void {
    this.#reasons.clear();
  }
}
