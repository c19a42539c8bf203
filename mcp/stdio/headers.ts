/** The headers that HTTP wants and standard input does not have. */
import { isRecord } from "../plain_messages.ts";

/** Where a request of the stateless revision names its revision. */
const REVISION_KEY = "io.modelcontextprotocol/protocolVersion";

/** The parameter that `Mcp-Name` repeats, by method. */
const NAMES: ReadonlyMap<unknown, string> = new Map([
  ["tools/call", "name"],
  ["prompts/get", "name"],
  ["resources/read", "uri"],
]);

/** The revision that a message of the stateless revision names; null for all others. */
export function revisionIn(message: unknown): string | null {
  const meta = isRecord(message) && isRecord(message.params) ? message.params._meta : undefined;
  const revision = isRecord(meta) ? meta[REVISION_KEY] : undefined;
  return typeof revision === "string" ? revision : null;
}

/**
 * The headers of a message. Those of the stateless revision repeat what the message says, and others
 * name the revision that `initialize` agreed on.
 *
 * @param agreed null before `initialize`
 */
export function headersFor(message: unknown, agreed: string | null): Headers {
  const headers = new Headers({
    "accept": "application/json, text/event-stream",
    "content-type": "application/json",
  });
  const own = revisionIn(message);
  const revision = own ?? agreed;
  if (revision !== null) headers.set("MCP-Protocol-Version", encoded(revision));
  if (own === null || !isRecord(message)) return headers;
  const { method, params } = message;
  if (typeof method === "string") headers.set("Mcp-Method", encoded(method));
  const name = isRecord(params) ? params[NAMES.get(method) ?? ""] : undefined;
  if (typeof name === "string") headers.set("Mcp-Name", encoded(name));
  return headers;
}

/** A value as a header may hold it: other than plain ASCII in Base64, as the revision says. */
function encoded(value: string): string {
  if (/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value) && !value.startsWith("=?base64?")) {
    return value;
  }
  const bytes = new TextEncoder().encode(value);
  return `=?base64?${btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))}?=`;
}
