import type { Context } from "hono";
import { HTTPException } from "hono/http-exception";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { z } from "@hono/zod-openapi";
import {
  BudgetUsed,
  Conflict,
  Forbidden,
  Halted,
  InsufficientStorage,
  Invalid,
  NotFound,
  QUOTA_USED,
  ServiceError,
  TimedOut,
  TooLarge,
  TooMany,
  TooSlow,
  Unauthorized,
  Unavailable,
  UpstreamAnswered,
  UpstreamFailed,
  UpstreamRefused,
} from "../../services/kernel/errors.ts";
import {
  contentTypeOf,
  failedAnswer,
  messageFormOf,
} from "../../services/engines/fossil/front/mod.ts";
import type { Log } from "../../services/kernel/log.ts";
import { describeIssue } from "../../services/kernel/validation/mod.ts";
import type { AppEnv } from "../environment.ts";
import { isSync } from "../sync_request.ts";
import { errorBody, type ErrorWords } from "./error_body.ts";

type ErrorClass = abstract new (...parameters: never[]) => ServiceError;

const STATUS: readonly (readonly [ErrorClass, ContentfulStatusCode])[] = [
  [Invalid, 400],
  [Unauthorized, 401],
  [Forbidden, 403],
  [NotFound, 404],
  [TooSlow, 408],
  [Conflict, 409],
  [TooLarge, 413],
  [Halted, 423],
  [TooMany, 429],
  [UpstreamFailed, 502],
  [Unavailable, 503],
  [TimedOut, 504],
  [InsufficientStorage, 507],
];

/** Converts an exception of a handler to the API's form of errors. */
export function errorHandler(log: Log) {
  return function handleError(error: Error, context: Context<AppEnv>): Response {
    if (error instanceof ServiceError) return serviceError(error, context);
    if (error instanceof HTTPException) {
      const message = error.status === 400 ? "The body is not valid JSON" : error.message;
      return errorBody(context, error.status as ContentfulStatusCode, message);
    }
    // What the client waited for ended with it.
    if (error === abortReasonOf(context)) return errorBody(context, 503, "The client is gone");
    const id = context.get("requestId");
    log.error("A request failed on a bug", { requestId: id, error });
    return errorBody(context, 500, `internal error (${id})`);
  };
}

/** Why the request was aborted; undefined if its client still waits for the answer. */
function abortReasonOf({ req }: Context<AppEnv>): unknown {
  const { signal } = req.raw;
  return signal.aborted ? signal.reason : undefined;
}

function serviceError(error: ServiceError, context: Context<AppEnv>): Response {
  if (error instanceof Unavailable && isSync(context.req)) return syncRefusal(context, error);
  if (error instanceof UpstreamAnswered) return upstreamAnswer(error, context);
  const status = statusOf(error);
  if (error instanceof Unauthorized) context.header("WWW-Authenticate", 'Bearer realm="muster"');
  if (error instanceof TooSlow) context.header("Connection", "close");
  noteRetry(context, error);
  const hasDetails = error instanceof Conflict || error instanceof TooMany;
  if (hasDetails && Object.keys(error.details).length > 0) {
    return context.json({ error: error.message, ...error.details }, status);
  }
  return errorBody(context, status, error.message, wordsOf(error));
}

function upstreamAnswer({ answer }: UpstreamAnswered, context: Context<AppEnv>): Response {
  const headers = { ...answer.headers, "Content-Type": "application/json" };
  return context.body(answer.body, answer.status as ContentfulStatusCode, headers);
}

/** The words of OpenAI's API for an error, where its status alone does not tell them. */
export function wordsOf(error: ServiceError): ErrorWords | undefined {
  if (error instanceof UpstreamRefused) return error.details;
  return error instanceof BudgetUsed ? QUOTA_USED : undefined;
}

/**
 * The refusal of a message of the `fossil` program, as an error card: of any other status than 200,
 * the program shows the number alone.
 */
function syncRefusal({ req }: Context<AppEnv>, { message }: Unavailable): Response {
  const form = messageFormOf(req.raw.headers.get("content-type")) ?? "compressed";
  const answer = failedAnswer({ form, now: Date.now() }, message);
  return new Response(answer.body as BodyInit, {
    headers: {
      "Content-Type": contentTypeOf(answer.form),
      "Content-Length": String(answer.body.length),
    },
  });
}

/** Says in headers when another attempt may succeed, if the error knows. */
export function noteRetry(context: Context<AppEnv>, error: ServiceError): void {
  const after = retryAfter(error);
  if (after !== null) context.header("Retry-After", after);
  if (isFutile(error, after)) context.header("X-Should-Retry", "false");
}

/** When another attempt may succeed, as `Retry-After` says it; null if the error does not know. */
function retryAfter(error: ServiceError): string | null {
  if (error instanceof UpstreamRefused) return error.details.retryAfter;
  const mayKnow = error instanceof TooMany || error instanceof Unavailable;
  if (!mayKnow || error.retryAfterSeconds === undefined) return null;
  return String(Math.ceil(error.retryAfterSeconds));
}

/** Longest wait for a model that a client is left to, in seconds. */
const LONGEST_WAIT_SECONDS = 60;

/**
 * Whether a call of a model must not be tried again by itself. OpenAI's SDKs wait as long as
 * `Retry-After` says, hours too, unless the header `X-Should-Retry` forbids it.
 */
function isFutile(error: ServiceError, after: string | null): boolean {
  if (error instanceof BudgetUsed) return true;
  if (!(error instanceof UpstreamRefused)) return false;
  if (error.details.code === QUOTA_USED.code) return true;
  if (after === null) return false;
  const seconds = /^\d+$/.test(after) ? Number(after) : (Date.parse(after) - Date.now()) / 1000;
  return seconds > LONGEST_WAIT_SECONDS;
}

/** The status of an answer that tells of an error. */
export function statusOf(error: ServiceError): ContentfulStatusCode {
  if (error instanceof UpstreamRefused) return error.status;
  if (error instanceof UpstreamAnswered) return error.answer.status as ContentfulStatusCode;
  return STATUS.find(([kind]) => error instanceof kind)?.[1] ?? 500;
}

/** The status of an answer that tells of an error of this class. */
export function statusOfClass(kind: ErrorClass): ContentfulStatusCode {
  return STATUS.find(([one]) => one === kind)?.[1] ?? 500;
}

/** Why a schema refuses a part of a request: names the field or the query parameter. */
export function refusalOf({ issues: [issue] }: z.core.$ZodError, target: string): string {
  if (issue === undefined) return "The request is not valid";
  if (target === "query" && issue.code === "unrecognized_keys") {
    return `Unknown query parameter "${issue.keys[0]}"; /docs lists those of each endpoint`;
  }
  return describeIssue(issue);
}
