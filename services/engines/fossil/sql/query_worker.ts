/** A thread of the process of queries: runs one statement, which nothing but its end can stop. */
import { runQuery } from "./query.ts";
import type { QueryRequest } from "./types.ts";

/** What a worker sees of its global scope. */
interface Scope {
  onmessage: ((event: MessageEvent<QueryRequest>) => void) | null;
  postMessage(message: string): void;
}

const scope = self as unknown as Scope;
scope.onmessage = ({ data }) => scope.postMessage(JSON.stringify(runQuery(data)));
