/**
 * The Fossil engine: reads and writes Fossil repositories without the `fossil` program. The only
 * door of this folder; see README.md for the rooms behind it.
 */
export * from "./artifact/mod.ts";
export * from "./codec/mod.ts";
export { errorCodeOf, FossilError, type FossilErrorCode } from "./error.ts";
export {
  addUser,
  Config,
  ContentStore,
  type CreateOptions,
  type Damage,
  Database,
  type NewUser,
  type Origin,
  type Progress,
  type SchemaState,
} from "./content/mod.ts";
export { filesOf, type Inspect, type RebuildResult } from "./crosslink/mod.ts";
export {
  type NewRepositoryOptions,
  type OpenOptions,
  type ReceiveOptions,
  type ReceiveResult,
  Repository,
} from "./repository.ts";
export * from "./git/mod.ts";
export * from "./merge/mod.ts";
export * from "./read/mod.ts";
export * from "./search/mod.ts";
export * from "./write/mod.ts";
export * from "./workers/mod.ts";
