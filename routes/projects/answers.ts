import type { Context } from "hono";
import { isLong } from "../../http/mod.ts";
import type { Answer } from "../../services/work/projects/mod.ts";
import type { AppEnv } from "../environment.ts";
import { z } from "../extended_zod.ts";
import { errorSchema, json } from "../schemas.ts";

/**
 * `Cache-Control` of an answer that depends on the repository alone: clients must revalidate it.
 */
const REVALIDATED = "private, no-cache";

/** The response to a conditional request if the client already has the content. */
export const notModified = {
  304: { description: "Not modified since the entity tag in `If-None-Match`" },
} as const;

const anyBytes = { "*/*": { schema: z.any().openapi({ type: "string", format: "binary" }) } };

/** The responses of endpoints that return bytes, except for errors. */
export const bytesResponses = {
  200: { content: anyBytes, description: "The bytes" },
  206: { content: anyBytes, description: "The requested range" },
  ...notModified,
  416: json(errorSchema, "The content has no such range"),
} as const;

/** Whether the client of a conditional request already has the content (RFC 9110, 13.1.2). */
export function hasAlready(context: Context<AppEnv>, etag: string): boolean {
  const condition = context.req.header("if-none-match");
  if (condition === undefined) return false;
  if (condition.trim() === "*") return true;
  return condition.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag);
}

/** The headers of an answer that clients can revalidate. */
export function conditionalHeaders(etag: string): Record<string, string> {
  return { ETag: etag, "Cache-Control": REVALIDATED };
}

/** Answers with content that clients can revalidate, or says that the client has it already. */
export function respond(context: Context<AppEnv>, answer: Answer, takesRanges = false): Response {
  const { content, etag } = answer;
  const headers: Record<string, string> = {
    ...answer.headers,
    ...conditionalHeaders(etag),
  };
  if (hasAlready(context, etag)) {
    return context.body(null, 304, conditionalHeaders(etag));
  }
  const { length } = content;
  const part: ContentPart | Response = takesRanges
    ? partOf(context, { etag, size: length })
    : { status: 200, start: 0, end: length, headers: {} };
  if (part instanceof Response) return part;
  const { status, start, end } = part;
  // By its length, the server knows a long answer, which slow clients may take their time to read.
  headers["Content-Length"] = String(end - start);
  const body = isLong(end - start)
    ? content.stream(start, end)
    : content.bytes.subarray(start, end);
  return context.body(body, status, { ...headers, ...part.headers });
}

/** Which bytes of some content a request gets, and the headers that say so. */
export interface ContentPart {
  readonly status: 200 | 206;
  /** The first byte, and the first one behind the part. */
  readonly start: number;
  readonly end: number;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * The response to a request for content with an entity tag; a refusal if the range lies outside of
 * it.
 */
export function partOf(
  context: Context<AppEnv>,
  { etag, size }: { readonly etag: string; readonly size: number },
): ContentPart | Response {
  const range = rangeOf(context, etag, size);
  const headers = { "Accept-Ranges": "bytes" };
  if (range === null) return { status: 200, start: 0, end: size, headers };
  if (range === "unsatisfiable") {
    const error = `The range lies outside of the content's ${size} bytes`;
    return context.json({ error }, 416, { "Content-Range": `bytes */${size}` });
  }
  const [start, end] = range;
  const place = { "Content-Range": `bytes ${start}-${end - 1}/${size}` };
  return { status: 206, start, end, headers: { ...headers, ...place } };
}

/**
 * The range that a request asks for (RFC 9110, 14.2): its start, and its end, which is exclusive.
 * Null for the whole content: without a range, with several, or if `If-Range` names other content.
 */
function rangeOf(
  context: Context<AppEnv>,
  etag: string,
  length: number,
): readonly [start: number, end: number] | "unsatisfiable" | null {
  const { method } = context.req;
  const wanted = context.req.header("range");
  const condition = context.req.header("if-range");
  if (wanted === undefined || method !== "GET") return null;
  if (condition !== undefined && condition.trim() !== etag) return null;
  const [, first = "", last = ""] = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(wanted.trim()) ?? [];
  if (first === "" && last === "") return null;
  if (first === "") {
    const count = Math.min(Number(last), length);
    return count === 0 ? "unsatisfiable" : [length - count, length];
  }
  const start = Number(first);
  const end = last === "" ? length : Math.min(Number(last) + 1, length);
  if (last !== "" && Number(last) < start) return null;
  return start >= length ? "unsatisfiable" : [start, end];
}
