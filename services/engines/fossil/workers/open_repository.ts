import { existsSync } from "node:fs";
import { companionPath, GitCompanion } from "../git/door/mod.ts";
import { isDamage } from "../content/mod.ts";
import { Reader } from "../read/mod.ts";
import { Repository } from "../repository.ts";
import { SearchIndex, searchIndexPath } from "../search/mod.ts";

/** An open repository in a worker, with its reader and search index. */
export class OpenRepository implements Disposable {
  readonly path: string;
  readonly repository: Repository;
  readonly reader: Reader;
  /** Time of its last use, on the clock of `performance.now()`. */
  usedAt = performance.now();
  #index: SearchIndex | null = null;
  #companion: GitCompanion | null = null;
  #changes = 0;

  /** @param check throws if the running job must end. */
  constructor(path: string, repository: Repository, check: () => void) {
    this.path = path;
    this.repository = repository;
    this.reader = new Reader(repository, {
      check,
      commitNamed: (prefix) => this.#commitNamed(prefix),
    });
  }

  /** Bytes that are cached of it, about. */
  get cachedBytes(): number {
    return this.repository.store.cachedBytes + this.reader.cachedBytes;
  }

  /** The index beside the repository, opened when it is first needed. */
  index(): SearchIndex {
    this.#index ??= SearchIndex.open(searchIndexPath(this.path), this.reader);
    return this.#index;
  }

  /** The Git objects beside the repository, opened when they are first needed. */
  companion(): GitCompanion {
    this.#companion ??= GitCompanion.open(companionPath(this.path), this.reader);
    return this.#companion;
  }

  /** Only those have heard of a commit who have fetched it, or its companion: so it is there. */
  #commitNamed(prefix: string): number {
    if (!existsSync(companionPath(this.path))) return 0;
    return this.withCompanion((companion) => companion.checkinNamed(prefix), () => true);
  }

  /** See {@linkcode Context.withCompanion}. */
  withCompanion<T>(work: (companion: GitCompanion) => T, mayRepeat: () => boolean): T {
    try {
      return work(this.companion());
    } catch (error) {
      if (!isDamage(error)) throw error;
      this.#companion?.discard();
      this.#companion = null;
      if (!mayRepeat()) throw error;
      return work(this.companion());
    }
  }

  /** Whether this connection has written rows since the last call. */
  hasWritten(): boolean {
    const before = this.#changes;
    this.#changes = this.repository.db.value<number>("SELECT total_changes()") ?? 0;
    return this.#changes !== before;
  }

  [Symbol.dispose](): void {
    using _repository = this.repository;
    using _index = this.#index;
    using _companion = this.#companion;
  }
}
