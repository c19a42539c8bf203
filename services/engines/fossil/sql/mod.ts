/** Statements of SQL by strangers: judged by what they touch, run in a process of their own. */
export { longestFor } from "../computing_time.ts";
export { runQuery } from "./query.ts";
export { runQueryProcess } from "./query_process.ts";
export {
  MAX_LINE,
  type QueryAnswer,
  type QueryCut,
  type QueryLimits,
  type QueryRefusal,
  type QueryRequest,
  type QueryResult,
  type QueryValue,
} from "./types.ts";

/** The hidden command of the executable that runs `runQueryProcess`. */
export const QUERY_COMMAND = "run-query";
