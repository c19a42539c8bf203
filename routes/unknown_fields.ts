import type { RouteConfig } from "@hono/zod-openapi";
import { z } from "zod";
import { bounded, closed } from "../services/kernel/validation/schemas.ts";

/** The body of a request, as a route describes it. */
export type Body = NonNullable<NonNullable<RouteConfig["request"]>["body"]>;

/**
 * Paths of the repository API, below its frame and in the document, of the admin's projects, and of
 * webhooks, whose bodies projects share.
 */
const CLOSED = /^(?:\/projects\/\{slug\}\/[^/]+)?\/api\/|^\/v1\/(?:projects|webhooks)(?:\/|$)/;

/** Whether JSON bodies that a path takes may have no unknown fields. */
export function refusesUnknownFields(path: string): boolean {
  return CLOSED.test(path);
}

/**
 * The body of a route as it is validated: texts and lists have a length, and there are no unknown
 * fields if the path refuses them.
 */
export function validatedBody(path: string, body: Body): Body {
  const media = body.content["application/json"];
  if (media === undefined || !("schema" in media)) return body;
  if (!(media.schema instanceof z.ZodType)) return body;
  const whole = refusesUnknownFields(path) ? closed(media.schema) : media.schema;
  const json = { ...media, schema: bounded(whole) };
  return { ...body, content: { ...body.content, "application/json": json } };
}
