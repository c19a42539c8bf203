import { ByteCache } from "../content/mod.ts";
import type { Repository } from "../repository.ts";

/** Default size of what a reader keeps in memory, in bytes. */
const CACHE_BYTES = 16 * 1024 * 1024;

/** Options of `Reader`. */
export interface ReaderOptions {
  /** Bytes of tables and totals kept in memory. */
  readonly cacheBytes?: number;
  /** Throws if nobody waits for the result any more; see `Reader.check`. */
  readonly check?: () => void;
}

/** Something computed, and roughly how many bytes it takes. */
interface Sized<T> {
  readonly value: T;
  readonly bytes: number;
}

/**
 * A repository to read from, with what was computed from it. Every reading function takes one.
 * What is kept is dropped as soon as anybody has written, this connection or another.
 */
export class Reader {
  readonly repository: Repository;
  /** To be called again and again by what may take long, so that it can be ended. */
  readonly check: () => void;
  readonly #cache: ByteCache<string, unknown>;
  #state: string | null = null;
  #depth = 0;

  constructor(repository: Repository, options: ReaderOptions = {}) {
    const { cacheBytes = CACHE_BYTES, check = () => {} } = options;
    this.repository = repository;
    this.check = check;
    this.#cache = new ByteCache(cacheBytes);
  }

  /** Runs reads that see one state of the file; can be nested. */
  read<T>(work: () => T): T {
    return this.repository.read(() => {
      if (this.#depth === 0) this.#noticeWrites();
      this.#depth++;
      try {
        return work();
      } finally {
        this.#depth--;
      }
    });
  }

  /**
   * `data_version` tells of other connections, `total_changes` of our own. Neither tells of a write
   * that is undone: what was read in its midst is not kept.
   */
  #noticeWrites(): void {
    const { db, isWriting } = this.repository;
    const state = `${db.dataVersion()} ${db.value<number>("SELECT total_changes()")}`;
    if (state !== this.#state || isWriting) this.#cache.clear();
    this.#state = isWriting ? null : state;
  }

  /**
   * Returns what was computed under a key since the last write, or computes it. Needs `read`. The
   * caller states by the key what type it is.
   */
  cached<T>(key: string, compute: () => Sized<T>): T {
    const known = this.#cache.get(key);
    if (known !== undefined) return known as T;
    const { value, bytes } = compute();
    this.#cache.set(key, value, bytes);
    return value;
  }
}
