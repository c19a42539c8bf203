import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";

/** Below this path, errors have the form that OpenAI's SDKs expect. */
export const OPENAI_PATH = "/v1/llm/openai/";

/** Below this path, errors have the form that Anthropic's SDKs expect. */
export const ANTHROPIC_PATH = "/v1/llm/anthropic/";

/** OpenAI's name of an error, by its status; all others are server errors. */
const OPENAI_TYPES: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  405: "invalid_request_error",
  409: "conflict_error",
  413: "invalid_request_error",
  422: "invalid_request_error",
  423: "permission_error",
  429: "rate_limit_error",
};

/** Anthropic's name of an error, by its status; all others are those of OpenAI, or its own faults. */
const ANTHROPIC_TYPES: Readonly<Record<number, string>> = {
  ...OPENAI_TYPES,
  413: "request_too_large",
  504: "timeout_error",
};

/** The provider's type and code of the error, if any. */
export interface ErrorWords {
  readonly type: string | null;
  readonly code: string | null;
}

const NO_WORDS: ErrorWords = Object.freeze({ type: null, code: null });

/** Answers with an error in the form for its path. */
export function errorBody(
  context: Context,
  status: ContentfulStatusCode,
  message: string,
  words?: ErrorWords,
): Response {
  const { path } = context.req;
  if (path.startsWith(OPENAI_PATH)) {
    return context.json(openAiError(status, message, words), status);
  }
  if (path.startsWith(ANTHROPIC_PATH)) {
    return context.json(anthropicError(status, message), status);
  }
  return context.json({ error: message }, status);
}

/** An error as Anthropic's SDKs read it, in an answer or in a stream. */
export function anthropicError(status: number, message: string) {
  return { type: "error", error: { type: ANTHROPIC_TYPES[status] ?? "api_error", message } };
}

/** An error as OpenAI's SDKs read it, in an answer or in a stream. */
export function openAiError(status: number, message: string, words = NO_WORDS) {
  const { type, code } = words;
  return { error: { message, type: type ?? OPENAI_TYPES[status] ?? "server_error", code } };
}
