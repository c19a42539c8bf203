import { BoundedMap } from "../../../kernel/bounded_map.ts";
import type { Repository } from "../repository.ts";

/** Default size of a reader's cache, in bytes: half of it is for what lasts. */
const CACHE_BYTES = 24 * 1024 * 1024;
/** Bytes of values of contents. */
const CONTENT_BYTES = 8 * 1024 * 1024;

/** After more events than these, what lasts is computed anew. */
const MAX_TOUCHED = 1_000;

/** Options of `Reader`. */
export interface ReaderOptions {
  /** Bytes of tables and totals kept in memory. */
  readonly cacheBytes?: number;
  /** Throws if the caller has cancelled; see `Reader.check`. */
  readonly check?: () => void;
  /** Row of the check-in of a commit of Git, by a prefix of its hash; 0 for none. */
  readonly commitNamed?: (prefix: string) => number;
}

/** See {@link Reader.versions}. */
export interface Versions {
  readonly all: string;
  readonly history: string;
}

/** A computed value, and its approximate size in bytes. */
export interface Sized<T> {
  readonly value: T;
  readonly bytes: number;
}

/** A value that each write adds to, and the states that it was made from. */
interface Growing {
  readonly value: unknown;
  readonly relinked: number;
  readonly state: string | null;
}

/** A value that lasts, with the number of events from which it was made. */
interface Lasting extends Growing, Sized<unknown> {
  readonly events: number;
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
  /** See {@link ReaderOptions.commitNamed}. */
  readonly commitNamed: (prefix: string) => number;
  readonly #cache: BoundedMap<string, Sized<unknown>>;
  readonly #lasting: BoundedMap<string, Lasting>;
  readonly #ofContents = boundedBy<Sized<unknown>>(CONTENT_BYTES);
  readonly #growing = new Map<string, Growing>();
  readonly #instance = crypto.randomUUID();
  #state: string | null = null;
  #events = 0;
  #relinked = 0;
  /** How often check-ins, their tags or anything else but documents and tickets have changed. */
  #histories = 0;
  /** The state of the last read, even if it was during a write. */
  #seen: string | null = null;
  #depth = 0;

  constructor(repository: Repository, options: ReaderOptions = {}) {
    const { cacheBytes = CACHE_BYTES, check = () => {}, commitNamed = () => 0 } = options;
    this.repository = repository;
    this.check = check;
    this.commitNamed = commitNamed;
    this.#cache = boundedBy(cacheBytes / 2);
    this.#lasting = boundedBy(cacheBytes / 2);
  }

  /** Bytes of values that it caches, about. */
  get cachedBytes(): number {
    return this.#cache.weight + this.#lasting.weight + this.#ofContents.weight;
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
    if (state !== this.#state || isWriting) {
      this.#cache.clear();
      // What a read during a write has seen already is no news.
      if (state !== this.#seen && this.#isHistoryWritten()) this.#histories++;
      this.#seen = state;
      this.#events = this.repository.touchedEvents;
      this.#relinked = this.repository.relinked;
    }
    this.#state = isWriting ? null : state;
  }

  #isHistoryWritten(): boolean {
    const { relinked, db } = this.repository;
    const touched = this.repository.eventsTouchedSince(this.#events);
    if (relinked !== this.#relinked || touched === null || touched.length === 0) return true;
    return db.exists(
      `SELECT 1 FROM json_each(?) AS touched LEFT JOIN event ON objid=touched.value
        WHERE event.type IS NULL OR event.type IN ('ci','g')`,
      JSON.stringify(touched),
    );
  }

  /**
   * Names of the state that reads see. While one stays the same, so does what was read: all of it, or
   * what depends on check-ins, their tags and settings alone.
   */
  versions(): Versions {
    return this.read(() => ({
      all: `${this.#instance} ${this.#state}`,
      history: `${this.#instance} ${this.#histories}`,
    }));
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
  ofContents<T>(key: string, compute: () => Sized<T> | null): T | null {
    const known = this.#ofContents.get(key);
    if (known !== undefined) return known.value as T;
    const sized = compute();
    if (sized === null) return null;
    this.#ofContents.set(key, sized);
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

  /**
   * Returns the cached value of a key, or computes it, from check-ins, their changed files and other
   * events. Needs `read`. The key determines the type.
   *
   * @param mend what becomes of the value where some events were written since, given their rows;
   * null if it must be computed anew. Absent for a value that no further event changes.
   */
  lasting<T>(key: string, compute: () => Sized<T>, mend: Mend<T> = (known) => known): T {
    const known = this.#mended(key, mend);
    if (known !== null) return known.value;
    const sized = compute();
    // A write that is rolled back must leave nothing behind.
    if (!this.repository.isWriting) this.#keep(key, sized);
    return sized.value;
  }

  /** The value of {@linkcode lasting} if it is cached; else null. Needs `read`. */
  lastingIfCached<T>(key: string, mend: Mend<T>): T | null {
    return this.#mended(key, mend)?.value ?? null;
  }

  #mended<T>(key: string, mend: Mend<T>): Sized<T> | null {
    const { isWriting, relinked } = this.repository;
    const known = isWriting ? undefined : this.#lasting.get(key) as Lasting & Sized<T> | undefined;
    if (known === undefined || known.state === this.#state) return known ?? null;
    if (known.relinked !== relinked) return null;
    const touched = this.repository.eventsTouchedSince(known.events);
    if (touched === null || touched.length > MAX_TOUCHED) return null;
    const sized = mend(known, touched);
    if (sized !== null) this.#keep(key, sized);
    return sized;
  }

  #keep(key: string, { value, bytes }: Sized<unknown>): void {
    const { relinked } = this.repository;
    const events = this.#events;
    this.#lasting.set(key, { value, bytes, relinked, state: this.#state, events });
  }
}

/**
 * What becomes of a value where events were written since it was made, given their rows; null if it
 * must be computed anew.
 */
type Mend<T> = (known: Sized<T>, touched: readonly number[]) => Sized<T> | null;

function boundedBy<T extends Sized<unknown>>(most: number): BoundedMap<string, T> {
  return new BoundedMap({ most, mostOfOne: most / 2, weigh: ({ bytes }) => bytes });
}
