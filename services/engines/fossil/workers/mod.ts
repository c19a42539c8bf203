/** What workers do, for those that do it themselves. The pool of workers is at the door `front/`. */
export {
  type ImportFrom,
  importGitStream,
  type ImportOptions,
  type ImportReport,
} from "./import.ts";
export type {
  CallOptions,
  JsonOperations,
  Operations,
  PooledRepository,
  PoolLoad,
  PoolOptions,
} from "./pool.ts";
export { examineRepository } from "./operations.ts";
export type { JoinedWrite, WriteOutcome, WrittenTogether } from "./together.ts";
