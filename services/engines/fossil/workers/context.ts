import type { GitCompanion } from "../git/door/mod.ts";
import type { Reader } from "../read/mod.ts";
import type { Repository } from "../repository.ts";
import type { SearchIndex } from "../search/mod.ts";
import type { Watch } from "./watch.ts";

/** The context of an operation. */
export interface Context {
  readonly repository: Repository;
  readonly reader: Reader;
  readonly watch: Watch;
  /** The index beside the repository, opened or created. */
  index(): SearchIndex;
  /** The Git objects beside the repository, opened or created. */
  companion(): GitCompanion;
  /**
   * Works with them. A damaged file is made anew, and the work is done again.
   *
   * @param mayRepeat whether it may be; by default it may
   */
  withCompanion<T>(work: (companion: GitCompanion) => T, mayRepeat?: () => boolean): T;
  /** Has the file opened anew after the job: an error may have left the connection in any state. */
  distrust(): void;
}
