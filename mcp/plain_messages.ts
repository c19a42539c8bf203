/**
 * Separates plain messages, which need no protocol library, from all others. The official library
 * answers the others, including their errors.
 */

/** The id of a JSON-RPC request. */
export type RequestId = string | number;

/** A plain request of a revision with `initialize`. */
export type PlainRequest =
  & { readonly id: RequestId }
  & (
    | { readonly method: "initialize" | "ping" | "tools/list" }
    | {
      readonly method: "tools/call";
      readonly params: { readonly name: string; readonly arguments?: Record<string, unknown> };
    }
  );

/** A message without an id, which gets no answer. */
export interface PlainNotification {
  readonly id?: never;
  readonly method: string;
}

export type PlainMessage = PlainRequest | PlainNotification;

const MESSAGE_KEYS: ReadonlySet<string> = new Set(["jsonrpc", "id", "method", "params"]);

/** The parameters of each method answered here, except `_meta`. */
const PARAMS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ["initialize", new Set(["protocolVersion", "capabilities", "clientInfo"])],
  ["ping", new Set<string>()],
  ["tools/list", new Set<string>()],
  ["tools/call", new Set(["name", "arguments"])],
]);

/** The prefix of `_meta` members with a meaning in the protocol. */
const RESERVED_PREFIX = /modelcontextprotocol|mcp/i;

/**
 * Whether a message, after leniency, is an unambiguous request or notification of its revision: it
 * has no parts of another revision, and nothing to refuse.
 */
export function isPlainMessage(message: unknown): message is PlainMessage {
  if (!isRecord(message) || message.jsonrpc !== "2.0" || typeof message.method !== "string") {
    return false;
  }
  if (!hasOnly(message, MESSAGE_KEYS)) return false;
  const { method, params } = message;
  if (params !== undefined && !isRecord(params)) return false;
  if (params?._meta !== undefined && !isPlainMeta(params._meta)) return false;
  if (!("id" in message)) return true;
  return isRequestId(message.id) && hasPlainParams(method, params ?? {});
}

/** Whether a plain message is a request, which gets an answer. */
export function isPlainRequest(message: PlainMessage): message is PlainRequest {
  return message.id !== undefined;
}

function hasPlainParams(method: string, params: Record<string, unknown>): boolean {
  const known = PARAMS.get(method);
  if (known === undefined) return false;
  for (const key in params) if (key !== "_meta" && !known.has(key)) return false;
  const { name, arguments: input } = params;
  if (method !== "tools/call") return true;
  if (typeof name !== "string") return false;
  return input === undefined || isRecord(input) && !Object.hasOwn(input, "__proto__");
}

/** Whether `_meta` has only a progress token, which is unused here. */
function isPlainMeta(meta: unknown): boolean {
  if (!isRecord(meta)) return false;
  for (const key in meta) if (RESERVED_PREFIX.test(key)) return false;
  const { progressToken } = meta;
  return progressToken === undefined || isRequestId(progressToken);
}

function isRequestId(id: unknown): id is RequestId {
  return typeof id === "string" || Number.isSafeInteger(id);
}

function hasOnly(record: Record<string, unknown>, keys: ReadonlySet<string>): boolean {
  for (const key in record) if (!keys.has(key)) return false;
  return true;
}

/** Whether a value is a JSON object. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
