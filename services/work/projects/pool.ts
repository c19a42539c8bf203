import { RepositoryPool } from "../../engines/fossil/front/mod.ts";
import type { Log } from "../../kernel/log.ts";
import { startThread } from "../../kernel/worker_pool.ts";

/** Opens a pool that logs what does not end in time. */
export function openPool(log: Log): RepositoryPool {
  return new RepositoryPool({
    startThread,
    onStuck: (call) =>
      log.warn("A call of a repository did not end in time; its worker is ended", { ...call }),
  });
}
