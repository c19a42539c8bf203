/**
 * The unary calls of Connect, as Forgejo's runners make them: a message of Protocol Buffers each way.
 *
 * @see {@link https://connectrpc.com/docs/protocol}
 */
import { type DescMessage, fromBinary, type MessageShape, toBinary } from "@bufbuild/protobuf";
import { Invalid, ServiceError } from "../../services/kernel/errors.ts";
import { statusOf } from "../middleware/errors.ts";

/** The type of a body. */
const TYPE = "application/proto";

/** Codes of errors, by the status of the same meaning. */
const CODES: Readonly<Record<number, string>> = {
  400: "invalid_argument",
  401: "unauthenticated",
  403: "permission_denied",
  404: "not_found",
  408: "deadline_exceeded",
  409: "aborted",
  413: "resource_exhausted",
  415: "unimplemented",
  429: "resource_exhausted",
  503: "unavailable",
};

/** @throws Invalid if a body is of another kind */
export function requireProto(headers: Headers): void {
  const type = headers.get("content-type")?.split(";")[0]?.trim();
  if (type !== TYPE) throw new Invalid(`This takes bodies of type ${TYPE}`);
}

/** How long the client waits for the answer, in milliseconds; null if it does not say. */
export function timeoutOf(headers: Headers): number | null {
  const text = headers.get("connect-timeout-ms") ?? "";
  return /^\d{1,10}$/.test(text) ? Number(text) : null;
}

/**
 * Reads a message.
 *
 * @throws Invalid if it is malformed
 */
export function readMessage<Desc extends DescMessage>(
  schema: Desc,
  body: Uint8Array,
): MessageShape<Desc> {
  try {
    return fromBinary(schema, body);
  } catch (error) {
    throw new Invalid("The message is malformed", { cause: error });
  }
}

/** The answer with a message. */
export function answerWith<Desc extends DescMessage>(
  schema: Desc,
  message: MessageShape<Desc>,
): Response {
  const body = toBinary(schema, message) as Uint8Array<ArrayBuffer>;
  return new Response(body, { headers: { "Content-Type": TYPE, "Cache-Control": "no-store" } });
}

/** The answer that tells of an error, in the form that a runner shows. */
export function failureOf(error: unknown): Response {
  if (!(error instanceof ServiceError)) throw error;
  const status = statusOf(error);
  return Response.json({ code: CODES[status] ?? "unknown", message: error.message }, { status });
}
