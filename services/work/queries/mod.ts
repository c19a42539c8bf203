/** Statements of SQL on the repositories of projects. */
export {
  MAX_SQL,
  QUERY_LIMITS,
  type QueryProcess,
  SqlQueries,
  type SqlQuery,
  type StartQuery,
} from "./queries.ts";
