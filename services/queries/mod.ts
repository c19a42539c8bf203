/** Statements of SQL on the repositories of projects. */
export type { QueryProcess, StartQuery } from "./process.ts";
export { MAX_SQL, QUERY_LIMITS, SqlQueries, type SqlQuery } from "./queries.ts";
