import type { Context } from "hono";
import type { AppEnv } from "../context.ts";
import { errorBody } from "./error_body.ts";
import { allowedMethods, type RoutesAt } from "./methods.ts";

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
  routesAt: RoutesAt,
  context: Context<AppEnv>,
  uploads: ReadonlySet<string>,
): Response {
  const { path } = context.req;
  const routes = routesAt(path);
  const allowed = allowedMethods(routes);
  if (allowed.length === 0) return errorBody(context, 404, `There is no ${path} here`);
  const headers = { Allow: allowed.join(", ") };
  const isUpload = routes.some((route) => uploads.has(route.path));
  return context.body(null, 204, isUpload ? { ...headers, ...TUS } : headers);
}
