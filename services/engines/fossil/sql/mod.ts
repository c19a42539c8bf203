/** Statements of SQL by strangers: judged by what they touch, run in a process of their own. */
export { longestFor } from "../computing_time.ts";
export { runQuery } from "./query.ts";
export {
  type QueryAnswer,
  type QueryCut,
  type QueryLimits,
  type QueryRefusal,
  type QueryRequest,
  type QueryResult,
  type QueryValue,
} from "./types.ts";

/** The module of the worker that runs a statement. */
export const QUERY_WORKER: URL = new URL("./query_worker.ts", import.meta.url);
