/** The headers that HTTP wants and standard input does not have. */
import { NAMING_PARAMETERS } from "../parameters.ts";
import { isRecord } from "../json_rpc.ts";
import { revisionIn } from "../revisions.ts";

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
  const name = isRecord(params) ? params[NAMING_PARAMETERS.get(method) ?? ""] : undefined;
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
