/** Statements of SQL on the repositories of projects. */
export { MAX_SQL, QUERY_LIMITS, SqlQueries, type SqlQuery } from "./queries.ts";
