/** Error codes of JSON-RPC 2.0 and, below -32000, of this server. */
export const RPC_ERROR = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  /** A header says otherwise than the body. */
  headerMismatch: -32020,
  /** Any failure that has no code of its own. */
  server: -32000,
  /** The credential is missing or not valid, or does not permit this. */
  unauthorized: -32001,
} as const;

/** The id of a JSON-RPC request. */
export type RequestId = string | number;

export type RpcErrorCode = (typeof RPC_ERROR)[keyof typeof RPC_ERROR];

/** A JSON-RPC error as an HTTP response; `id` is null if no request id is known. */
export function rpcError(
  status: number,
  code: RpcErrorCode,
  message: string,
  id: RequestId | null = null,
): Response {
  return Response.json({ jsonrpc: "2.0", id, error: { code, message } }, { status });
}

/** Whether a value is a JSON object. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
