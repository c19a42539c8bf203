import { loadSha3 } from "../codec/mod.ts";
import type { Damage, Progress } from "../content/mod.ts";
import type { Repository } from "../repository.ts";
import { HashHelper } from "./hash_helper.ts";

/** Artifacts below which a second thread takes longer to start than it saves. */
const MIN_ARTIFACTS = 2_000;

/** Decodes every artifact, and hashes it here or in a second thread. Gives what is damaged. */
export async function verifyRepository(
  repository: Repository,
  progress: Progress = () => {},
): Promise<Damage[]> {
  const artifacts = repository.read(() =>
    repository.db.value<number>("SELECT count(*) FROM blob") ?? 0
  );
  if (artifacts < MIN_ARTIFACTS) return repository.verify({ progress });
  using hashes = new HashHelper(await loadSha3());
  return repository.verify({ progress, hashes });
}
