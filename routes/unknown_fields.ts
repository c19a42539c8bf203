import type { RouteConfig } from "@hono/zod-openapi";
import { z } from "zod";
import { bounded, closed } from "../services/kernel/validation/schemas.ts";

/** The body of a request, as a route describes it. */
export type Body = NonNullable<NonNullable<RouteConfig["request"]>["body"]>;

/** Paths of the repository API, below its frame and in the document, and those of the server. */
const API = /^(?:\/projects\/\{slug\}\/[^/]+)?\/api\/|^\/v1\//;

/** Paths that other servers have too, whose clients may send more than muster knows. */
const SHARED =
  /^\/v1\/(?:agents\/(?:register|\{nick\}\/(?:adopt|rotate|revoke))|channels|admins|llm|settings\/policies)(?:\/|$)/;

/**
 * Whether JSON bodies that a path takes may have no unknown fields: a halt of one agent, misspelled,
 * would be a halt of all.
 */
export function refusesUnknownFields(path: string): boolean {
  return API.test(path) && !SHARED.test(path);
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
