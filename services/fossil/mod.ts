/**
 * The Fossil engine: reads and writes Fossil repositories without the `fossil` program. The only
 * door of this folder; see README.md for the rooms behind it.
 */
export * from "./artifact/mod.ts";
export * from "./codec/mod.ts";
export { FossilError, type FossilErrorCode } from "./error.ts";
