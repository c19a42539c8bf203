import type { Reader } from "../read/mod.ts";
import type { Repository } from "../repository.ts";
import type { SearchIndex } from "../search/mod.ts";
import type { HashMemory } from "./hash_protocol.ts";
import type { Watch } from "./watch.ts";

/** The context of an operation. */
export interface Context {
  readonly repository: Repository;
  readonly reader: Reader;
  readonly watch: Watch;
  /** A thread that hashes for this one; null if there is none. */
  readonly hashing: HashMemory | null;
  /** The index beside the repository, opened or created. */
  index(): SearchIndex;
  /** Has the file opened anew after the job: an error may have left the connection in any state. */
  distrust(): void;
}
