import type { Context, Hono } from "hono";
import type { AppEnv } from "../context.ts";
import { errorBody } from "./error_body.ts";
import { allowedMethods } from "./methods.ts";

/** What a client of resumable uploads may want to know beforehand (tus 1.0, "OPTIONS"). */
const TUS = {
  "Tus-Resumable": "1.0.0",
  "Tus-Version": "1.0.0",
  "Tus-Extension": "creation,creation-with-upload,expiration,termination",
};

function tellsOfUploads(path: string): boolean {
  return /\/api\/(?:uploads(?:\/[^/]+)?|releases\/[^/]+\/assets)\/?$/.test(path);
}

/**
 * Answers OPTIONS (RFC 9110, 9.3.7) for every path, with its methods. Browsers send it without a
 * credential.
 */
export function answerOptions(app: Hono<AppEnv>, context: Context<AppEnv>): Response {
  const { path } = context.req;
  const allowed = allowedMethods(app, path);
  if (allowed.length === 0) return errorBody(context, 404, `There is no ${path} here`);
  const headers = { Allow: allowed.join(", ") };
  return context.body(null, 204, tellsOfUploads(path) ? { ...headers, ...TUS } : headers);
}
