import { loadSha3 } from "../codec/mod.ts";
import type { Examination, Progress } from "../content/mod.ts";
import type { Repository } from "../repository.ts";
import { HashHelper } from "./hash_helper.ts";
import type { HashMemory } from "./hash_protocol.ts";
import { SharedHashCheck } from "./shared_hash_check.ts";

/**
 * Examines a whole repository, and hashes its artifacts here or in a second thread. Call this in
 * the main thread; see {@link examineWith} for others.
 */
export async function examineRepository(
  repository: Repository,
  progress?: Progress,
): Promise<Examination> {
  using helper = new HashHelper();
  return await examineWith(helper.memory, repository, progress);
}

/** Like {@link examineRepository}, with the memory of a helper that the main thread has started. */
export async function examineWith(
  memory: HashMemory,
  repository: Repository,
  progress: Progress = () => {},
): Promise<Examination> {
  const hashes = new SharedHashCheck(memory, await loadSha3());
  return repository.examine({ progress, hashes });
}
