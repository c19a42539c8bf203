/** A thread of the process of queries: runs one statement, which nothing but its end can stop. */
import { serveCalls } from "../../../kernel/serve_calls.ts";
import { runQuery } from "./query.ts";
import type { QueryRequest } from "./types.ts";

serveCalls(() => (request: QueryRequest) => runQuery(request));
