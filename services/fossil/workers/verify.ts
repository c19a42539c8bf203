import { loadSha3 } from "../codec/mod.ts";
import type { Damage, Progress } from "../content/mod.ts";
import type { Repository } from "../repository.ts";
import { HashHelper } from "./hash_helper.ts";
import type { HashMemory } from "./hash_protocol.ts";
import { SharedHashCheck } from "./shared_hash_check.ts";

/**
 * Decodes every artifact, and hashes it here or in a second thread. Gives what is damaged. To be
 * called in the main thread; see {@link verifyWith} for others.
 */
export async function verifyRepository(
  repository: Repository,
  progress?: Progress,
): Promise<Damage[]> {
  using helper = new HashHelper();
  return await verifyWith(helper.memory, repository, progress);
}

/** As {@link verifyRepository}, with the memory of a helper that the main thread has started. */
export async function verifyWith(
  memory: HashMemory,
  repository: Repository,
  progress: Progress = () => {},
): Promise<Damage[]> {
  const hashes = new SharedHashCheck(memory, await loadSha3());
  return repository.verify({ progress, hashes });
}
