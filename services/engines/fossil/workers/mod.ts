/** The asynchronous interface: repositories in workers. */
export { importGitStream, type ImportOptions, type ImportReport } from "./import.ts";
export {
  type CallOptions,
  type ImportedRepository,
  type JsonOperations,
  type Operations,
  type PooledRepository,
  type PoolLoad,
  type PoolOptions,
  RepositoryPool,
} from "./pool.ts";
export { examineRepository } from "./operations.ts";
