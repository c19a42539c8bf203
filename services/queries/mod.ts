/** Statements of SQL on the repositories of projects. */
export { type QueryProcess, type StartQuery, startQuery } from "./process.ts";
export { MAX_SQL, QUERY_LIMITS, SqlQueries, type SqlQuery } from "./queries.ts";
