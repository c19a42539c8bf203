/** How long a browser may cache a preflight answer, in seconds. */
const MAX_AGE = 600;

/** Headers of resumable uploads (tus 1.0). */
const SENT_BY_UPLOADS = "Tus-Resumable, Upload-Length, Upload-Metadata, Upload-Offset";
const EXPOSED_BY_UPLOADS = "Location, Tus-Resumable, Upload-Expires, Upload-Length, Upload-Offset";

/** Headers of every door, among them those of the Model Context Protocol. */
const SENT =
  "Authorization, Content-Type, If-None-Match, If-Range, Last-Event-ID, Range, User-Agent, " +
  `X-Muster-Ticket, Mcp-Session-Id, MCP-Protocol-Version, ${SENT_BY_UPLOADS}`;
const EXPOSED = "Accept-Ranges, Content-Disposition, Content-Range, ETag, Mcp-Session-Id, " +
  "MCP-Protocol-Version, Muster-Gap, Retry-After, WWW-Authenticate, X-Checkin, " +
  `X-Muster-Warnings, X-Request-Id, X-Should-Retry, ${EXPOSED_BY_UPLOADS}`;

/** Headers that clients of models and of MCP add under names of their own; none has an effect. */
const OF_CLIENTS = /^(?:mcp|openai|x-stainless)-[a-z0-9-]{1,64}$/i;

/** Most such headers that a preflight answer names. */
const MAX_OF_CLIENTS = 50;

/**
 * Lets web pages of other origins read an answer (Fetch standard, "CORS protocol"). They send a
 * token in a header; they cannot use the cookie of a login.
 *
 * @param headers of the answer
 * @param origins such as `https://example.com`; `*` means every one
 */
export function allowOrigins(
  headers: Headers,
  request: Request,
  origins: readonly string[],
): void {
  const everybody = origins.includes("*");
  if (!everybody) headers.append("Vary", "Origin");
  const origin = request.headers.get("origin");
  if (origin === null || !(everybody || origins.includes(origin))) return;
  headers.set("Access-Control-Allow-Origin", everybody ? "*" : origin);
  headers.set("Access-Control-Expose-Headers", EXPOSED);
  if (request.method !== "OPTIONS") return;
  headers.set("Access-Control-Allow-Methods", headers.get("Allow") ?? "");
  const asked = request.headers.get("access-control-request-headers") ?? "";
  const known = new Set(SENT.toLowerCase().split(", "));
  const added = asked.split(",").map((name) => name.trim())
    .filter((name) => OF_CLIENTS.test(name) && !known.has(name.toLowerCase()))
    .slice(0, MAX_OF_CLIENTS);
  headers.set("Access-Control-Allow-Headers", [SENT, ...added].join(", "));
  headers.set("Access-Control-Max-Age", String(MAX_AGE));
}
