import { FossilError } from "../error.ts";
import type { Paging, Reader } from "../read/mod.ts";
import type { SearchKind, SearchResult } from "./shapes.ts";

/** What is searched for. */
export interface SearchOptions extends Paging {
  /** Words that all must stand there; `"a phrase"`, `prefix*` and `-without` are understood. */
  readonly query: string;
  /** All kinds where absent. */
  readonly kinds?: readonly SearchKind[];
}

/** Options of `SearchIndex.open`. */
export interface SearchIndexOptions {
  /** Larger files are not indexed, in bytes. */
  readonly maxFileBytes?: number;
}

/** Full text search over one repository, in a file of its own beside it. */
export class SearchIndex implements Disposable {
  /** Where the index of a repository is kept: `x.fossil` has `x.index`. */
  static pathFor(repositoryPath: string): string {
    return `${repositoryPath.replace(/\.fossil$/, "")}.index`;
  }

  /** Opens the index at `path`, or makes it. Nothing is read from the repository yet. */
  static open(_path: string, _reader: Reader, _options: SearchIndexOptions = {}): SearchIndex {
    throw new FossilError("unsupported", "Not built yet");
  }

  /** Takes in what was written since; rebuilds the index where it does not fit the repository. */
  update(): void {}

  /** Finds matches, best first; brings the index up to date before. */
  search(_options: SearchOptions): SearchResult {
    throw new FossilError("unsupported", "Not built yet");
  }

  close(): void {}

  [Symbol.dispose](): void {
    this.close();
  }
}
