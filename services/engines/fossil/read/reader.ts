import { BoundedMap } from "../../../kernel/bounded_map.ts";
import type { Repository } from "../repository.ts";

/** Default size of a reader's cache, in bytes. */
const CACHE_BYTES = 16 * 1024 * 1024;
/** Bytes of values that last. */
const LASTING_BYTES = 8 * 1024 * 1024;

/** Options of `Reader`. */
export interface ReaderOptions {
  /** Bytes of tables and totals kept in memory. */
  readonly cacheBytes?: number;
  /** Throws if the caller has cancelled; see `Reader.check`. */
  readonly check?: () => void;
}

/** A computed value, and its approximate size in bytes. */
interface Sized<T> {
  readonly value: T;
  readonly bytes: number;
}

/** A value that each write adds to, and the states that it was made from. */
interface Growing {
  readonly value: unknown;
  readonly relinked: number;
  readonly state: string | null;
}

/**
 * A repository to read from, with a cache of computed values. Every reading function takes one. The
 * cache is cleared after any write, by this connection or another; only what grows with the history
 * stays, and is brought up to date.
 */
export class Reader {
  readonly repository: Repository;
  /** Long work calls this repeatedly, so that it can be cancelled. */
  readonly check: () => void;
  readonly #cache: BoundedMap<string, Sized<unknown>>;
  readonly #lasting = boundedBy(LASTING_BYTES);
  readonly #growing = new Map<string, Growing>();
  #state: string | null = null;
  #depth = 0;

  constructor(repository: Repository, options: ReaderOptions = {}) {
    const { cacheBytes = CACHE_BYTES, check = () => {} } = options;
    this.repository = repository;
    this.check = check;
    this.#cache = boundedBy(cacheBytes);
  }

  /** Bytes of values that it caches, about. */
  get cachedBytes(): number {
    return this.#cache.weight + this.#lasting.weight;
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
   * `data_version` shows writes of other connections, `total_changes` our own. Neither shows a
   * write that is rolled back, so nothing read during a write is cached.
   */
  #noticeWrites(): void {
    const { db, isWriting } = this.repository;
    const state = `${db.dataVersion()} ${db.value<number>("SELECT total_changes()")}`;
    if (state !== this.#state || isWriting) this.#cache.clear();
    this.#state = isWriting ? null : state;
  }

  /**
   * Returns the cached value of a key, or computes it. Needs `read`. The key determines the type.
   */
  cached<T>(key: string, compute: () => Sized<T>): T {
    const known = this.#cache.get(key);
    if (known !== undefined) return known.value as T;
    const sized = compute();
    this.#cache.set(key, sized);
    return sized.value;
  }

  /**
   * Returns the value of a key, or computes it. No write changes it: it is computed from the contents
   * of artifacts alone, and the key has their full names. Null if that is impossible now. The key
   * determines the type.
   */
  lasting<T>(key: string, compute: () => Sized<T> | null): T | null {
    const known = this.#lasting.get(key);
    if (known !== undefined) return known.value as T;
    const sized = compute();
    if (sized === null) return null;
    this.#lasting.set(key, sized);
    return sized.value;
  }

  /**
   * Returns a value that is computed from the links between check-ins, their changed files and their
   * times. After writes that only added some, it is brought up to date, and after any other computed
   * anew. Needs `read`. The key determines the type.
   *
   * @param update adds to the value what was added since it was computed or updated
   */
  growing<T>(key: string, compute: () => T, update: (value: T) => void): T {
    const { isWriting, relinked } = this.repository;
    // A write that is rolled back must leave nothing behind.
    if (isWriting) return compute();
    const known = this.#growing.get(key);
    if (known?.state === this.#state) return known.value as T;
    this.#growing.delete(key);
    const value = known?.relinked === relinked ? known.value as T : compute();
    if (value === known?.value) update(value);
    this.#growing.set(key, { value, relinked, state: this.#state });
    return value;
  }
}

function boundedBy(bytes: number): BoundedMap<string, Sized<unknown>> {
  return new BoundedMap({ most: bytes, mostOfOne: bytes / 4, weigh: ({ bytes }) => bytes });
}
