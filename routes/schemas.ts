import { z } from "./extended_zod.ts";

/** The body of every error. */
export const errorSchema = z.object({
  error: z.string().openapi({ description: "What went wrong, as a sentence" }),
}).openapi("Error");

/** A JSON response with this body. */
export function json<Schema extends z.ZodType>(schema: Schema, description: string) {
  return { content: { "application/json": { schema } }, description };
}

/**
 * A JSON request body, which must be there.
 *
 * @param example a body that readers of the documentation can send as it is
 */
export function jsonRequest<Schema extends z.ZodType>(schema: Schema, example: z.input<Schema>) {
  return { content: { "application/json": { schema, example } }, required: true };
}

/** What each status of an error means. */
export const DESCRIPTIONS = {
  400: "The request is malformed",
  401: "The credential is missing or not valid",
  403: "The credential does not open this",
  404: "There is no such thing",
  408: "The body did not arrive in time",
  409: "It contradicts the present state",
  413: "The request is too large",
  422: "A service outside of muster refuses the request",
  423: "You are a halted agent, which may read and change nothing; the error says why",
  429: "A limit is reached",
  500: "An unexpected error; the log tells more under the id that the body names",
  502: "A service outside of muster failed",
  503: "A part of the service is away for now",
  504: "A part of the service did not answer in time",
} as const;

type ErrorStatus = keyof typeof DESCRIPTIONS;

/** The error responses of an endpoint below `/v1/`: these, and those that every one of them has. */
export function errors<Status extends ErrorStatus>(...statuses: Status[]) {
  const entries = [401, 403, ...statuses].map((status) => [
    status,
    json(errorSchema, DESCRIPTIONS[status as ErrorStatus]),
  ]);
  return Object.fromEntries(entries) as Record<
    Status | 401 | 403,
    ReturnType<typeof json<typeof errorSchema>>
  >;
}

/** The body of an error of Connect, as runners of Forgejo read it; `error` of a request that is none. */
const connectErrorSchema = z.object({
  code: z.string().optional(),
  message: z.string().optional(),
  error: z.string().optional(),
}).openapi("ConnectError");

/** The error responses of an endpoint of Connect. */
export function connectErrors<Status extends ErrorStatus>(...statuses: Status[]) {
  const entries = statuses.map((status) => [
    status,
    json(connectErrorSchema, DESCRIPTIONS[status]),
  ]);
  return Object.fromEntries(entries) as Record<
    Status,
    ReturnType<typeof json<typeof connectErrorSchema>>
  >;
}

/** The body of every error below `/v1/llm/openai/`, as OpenAI's SDKs read it. */
const openAiErrorSchema = z.object({
  error: z.object({ message: z.string(), type: z.string(), code: z.string().nullable() }),
}).openapi("OpenAiError");

/** The error responses of an endpoint below `/v1/llm/openai/`. */
export function openAiErrors<Status extends ErrorStatus>(...statuses: Status[]) {
  const entries = statuses.map((status) => [status, json(openAiErrorSchema, DESCRIPTIONS[status])]);
  return Object.fromEntries(entries) as Record<
    Status,
    ReturnType<typeof json<typeof openAiErrorSchema>>
  >;
}

/** The body of every error below `/v1/llm/anthropic/`, as Anthropic's SDKs read it. */
const anthropicErrorSchema = z.object({
  type: z.literal("error"),
  error: z.object({ type: z.string(), message: z.string() }),
}).openapi("AnthropicError");

/** The error responses of an endpoint below `/v1/llm/anthropic/`. */
export function anthropicErrors<Status extends ErrorStatus>(...statuses: Status[]) {
  const entries = statuses.map((status) => [
    status,
    json(anthropicErrorSchema, DESCRIPTIONS[status]),
  ]);
  return Object.fromEntries(entries) as Record<
    Status,
    ReturnType<typeof json<typeof anthropicErrorSchema>>
  >;
}

const AS_QUERY = "As `Last-Event-ID`, for clients that cannot set a header";

/** Where the id of the last event that a reader has stands; the header takes precedence. */
export const lastEventId = {
  /** Ids that are numbers of the event log. */
  number: {
    header: eventNumber("Takes precedence over `after`; for a stream"),
    query: eventNumber(`${AS_QUERY}; for a stream`),
  },
  /** Ids of messages. */
  message: {
    header: messageId("The id of the last received message; takes precedence over `since`"),
    query: messageId(AS_QUERY),
  },
};

/** An empty id is none (WHATWG HTML, "Server-sent events"). */
function eventNumber(description: string) {
  return z.string().regex(/^[0-9]{0,15}$/, { error: "must be the number of an event" })
    .transform((text) => text === "" ? undefined : Number(text)).optional()
    .openapi({ type: "integer", minimum: 0, description });
}

function messageId(description: string) {
  return z.string().max(200, { error: "must be the id of a message" })
    .transform((text) => text === "" ? undefined : text).optional()
    .openapi({ type: "string", description });
}

/** The token of an event stream whose client cannot set a header. */
export const queryTokenSchema = z.string().optional().openapi({
  description: "The token, for clients that cannot set a header; on a stream alone",
});
