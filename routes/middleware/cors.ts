/** How long a browser may cache a preflight answer, in seconds. */
const MAX_AGE = 600;

/** Headers of resumable uploads (tus 1.0). */
const SENT_BY_UPLOADS = "Tus-Resumable, Upload-Length, Upload-Metadata, Upload-Offset";
const EXPOSED_BY_UPLOADS = "Location, Tus-Resumable, Upload-Expires, Upload-Length, Upload-Offset";

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
  headers.set(
    "Access-Control-Expose-Headers",
    `X-Request-Id, Retry-After, Muster-Gap, ${EXPOSED_BY_UPLOADS}`,
  );
  if (request.method !== "OPTIONS") return;
  headers.set("Access-Control-Allow-Methods", headers.get("Allow") ?? "");
  headers.set(
    "Access-Control-Allow-Headers",
    `Authorization, Content-Type, Last-Event-ID, ${SENT_BY_UPLOADS}`,
  );
  headers.set("Access-Control-Max-Age", String(MAX_AGE));
}
