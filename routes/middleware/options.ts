import type { Context, Hono } from "hono";
import type { AppEnv } from "../context.ts";
import { errorBody } from "./error_body.ts";
import { allowedMethods, routePatterns } from "./methods.ts";

/** What a client of resumable uploads may want to know beforehand (tus 1.0, "OPTIONS"). */
const TUS = {
  "Tus-Resumable": "1.0.0",
  "Tus-Version": "1.0.0",
  "Tus-Extension": "creation,creation-with-upload,expiration,termination",
};

/**
 * Answers OPTIONS (RFC 9110, 9.3.7) for every path, with its methods. Browsers send it without a
 * credential.
 *
 * @param uploads the patterns of the routes of resumable uploads
 */
export function answerOptions(
  app: Hono<AppEnv>,
  context: Context<AppEnv>,
  uploads: ReadonlySet<string>,
): Response {
  const { path } = context.req;
  const allowed = allowedMethods(app, path);
  if (allowed.length === 0) return errorBody(context, 404, `There is no ${path} here`);
  const headers = { Allow: allowed.join(", ") };
  const isUpload = routePatterns(app, path).some((pattern) => uploads.has(pattern));
  return context.body(null, 204, isUpload ? { ...headers, ...TUS } : headers);
}
