import { isRecord } from "./json_rpc.ts";

/** Lists that come whole: no cursor continues them. */
const WHOLE_LISTS: ReadonlySet<unknown> = new Set([
  "tools/list",
  "prompts/list",
  "resources/templates/list",
]);

/** The methods whose parameters name something, and the parameter that does. */
export const NAMING_PARAMETERS: ReadonlyMap<unknown, string> = new Map([
  ["tools/call", "name"],
  ["prompts/get", "name"],
  ["resources/read", "uri"],
  ["tasks/get", "taskId"],
  ["tasks/update", "taskId"],
  ["tasks/cancel", "taskId"],
]);

/** A cursor of `resources/list`: how many projects come before. */
export const CURSOR = /^[0-9]{1,9}$/;

/**
 * What is wrong with the parameters of a message, as a sentence; null if nothing is, or if something
 * else refuses the message. The protocol's specification has the error -32602 for these.
 */
export function faultOfParams(message: unknown): string | null {
  if (!isRecord(message) || typeof message.method !== "string") return null;
  const { method, params = {} } = message;
  if (!isRecord(params)) return '"params" must be an object';
  if (params._meta !== undefined && !isRecord(params._meta)) return '"_meta" must be an object';
  const named = NAMING_PARAMETERS.get(method);
  if (named !== undefined && typeof params[named] !== "string") {
    return `"${named}" must be a string`;
  }
  const { cursor, arguments: input } = params;
  if (named === "name" && input !== undefined && !isRecord(input)) {
    return '"arguments" must be an object';
  }
  if (cursor === undefined || !WHOLE_LISTS.has(method) && method !== "resources/list") return null;
  if (typeof cursor !== "string") return '"cursor" must be a string; leave it out to begin';
  if (method === "resources/list" && CURSOR.test(cursor)) return null;
  return "The cursor is not one of this list; leave it out to begin again";
}
