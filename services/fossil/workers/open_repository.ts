import { Reader } from "../read/mod.ts";
import { Repository } from "../repository.ts";
import { SearchIndex } from "../search/mod.ts";

/** A repository with what is read and searched through, as a worker keeps it open. */
export class OpenRepository implements Disposable {
  readonly path: string;
  readonly repository: Repository;
  readonly reader: Reader;
  /** When it was last asked for, on the clock of `performance.now()`. */
  usedAt = performance.now();
  #index: SearchIndex | null = null;
  #changes = 0;

  /** @param check throws if the running job is to end. */
  constructor(path: string, repository: Repository, check: () => void) {
    this.path = path;
    this.repository = repository;
    this.reader = new Reader(repository, { check });
  }

  /** The index beside the repository, opened when it is first needed. */
  index(): SearchIndex {
    this.#index ??= SearchIndex.open(SearchIndex.pathFor(this.path), this.reader);
    return this.#index;
  }

  /** Whether rows were written through this connection since that was asked last. */
  hasWritten(): boolean {
    const before = this.#changes;
    this.#changes = this.repository.db.value<number>("SELECT total_changes()") ?? 0;
    return this.#changes !== before;
  }

  [Symbol.dispose](): void {
    try {
      this.#index?.close();
    } finally {
      this.repository.close();
    }
  }
}
