import type { RouteConfig } from "@hono/zod-openapi";
import { HTTPException } from "hono/http-exception";
import { getQueryParams } from "hono/utils/url";
import { Invalid } from "../services/kernel/errors.ts";
import { parseJson } from "../services/kernel/validation/mod.ts";
import { bounded, closed } from "../services/kernel/validation/schemas.ts";
import { z } from "./extended_zod.ts";
import { refusalOf } from "./middleware/errors.ts";

/** The body of a request, as a route describes it. */
type Body = NonNullable<NonNullable<RouteConfig["request"]>["body"]>;

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
function validatedBody(path: string, body: Body): Body {
  const media = body.content["application/json"];
  if (media === undefined || !("schema" in media)) return body;
  if (!(media.schema instanceof z.ZodType)) return body;
  const whole = refusesUnknownFields(path) ? closed(media.schema) : media.schema;
  const json = { ...media, schema: bounded(whole) };
  return { ...body, content: { ...body.content, "application/json": json } };
}

/** The types of a body that is JSON. */
const JSON_TYPE = /^application\/([a-z0-9.+-]+\+)?json\b/i;

/**
 * What a route's description says of its requests: validates their query, the parameters of their
 * path, their headers and a body of JSON. Parameters have a length, and there are no unknown fields
 * where the path refuses them. Each part is undefined if the route does not describe it.
 */
export class RequestSchemas {
  readonly #query: z.ZodType | undefined;
  readonly #params: z.ZodType | undefined;
  readonly #names: readonly string[];
  readonly #headers: z.ZodType | undefined;
  readonly #headerNames: readonly string[];
  readonly #json: z.ZodType | undefined;
  readonly #isOptional: boolean;
  /** A query without parameters, validated; null until one is valid. */
  #noQuery: { readonly value: unknown } | null = null;

  /** @param path as the description writes it */
  constructor(path: string, request: RouteConfig["request"] = {}) {
    const { query, params, headers, body } = request;
    this.#query = schemaOf(query);
    this.#params = schemaOf(params);
    this.#names = namesOf(params);
    this.#headers = schemaOf(headers);
    this.#headerNames = namesOf(headers);
    this.#json = body && jsonOf(validatedBody(path, body));
    this.#isOptional = body?.required !== true;
  }

  /** @throws Invalid naming the parameter */
  query(url: string): unknown {
    if (this.#query === undefined) return undefined;
    if (url.includes("?")) return parse(this.#query, queryOf(url), "query");
    this.#noQuery ??= { value: parse(this.#query, {}, "query") };
    return this.#noQuery.value;
  }

  /**
   * @param valueOf a parameter of the path, decoded
   * @throws Invalid naming the parameter
   */
  params(valueOf: (name: string) => string | undefined): unknown {
    if (this.#params === undefined) return undefined;
    return parse(this.#params, valuesOf(this.#names, valueOf), "param");
  }

  /** @throws Invalid naming the header */
  headers(given: Headers): unknown {
    if (this.#headers === undefined) return undefined;
    const headers: Record<string, unknown> = Object.fromEntries(given);
    // The runtime's names are in lower case.
    for (const name of this.#headerNames) headers[name] ??= headers[name.toLowerCase()];
    return parse(this.#headers, headers, "header");
  }

  /**
   * An optional body that is missing is an empty object, so that every field has its default.
   *
   * @param text the body; undefined if there is none, or something else reads it
   * @throws Invalid naming the field; HTTPException if something else than JSON reads the body
   */
  json(text: string | undefined, headers: Headers): unknown {
    const schema = this.#json;
    if (schema === undefined) return undefined;
    if (this.#isOptional && (text ?? "").trim() === "") return parse(schema, {}, "json");
    if (text !== undefined) return parse(schema, jsonValueOf(text), "json");
    const contentType = headers.get("content-type");
    if (contentType !== null && !JSON_TYPE.test(contentType)) {
      throw new HTTPException(415, { message: "Unsupported Media Type" });
    }
    if (contentType !== null) return jsonValueOf("");
    // The refusal names a field that is required; a body of which none is must be there too.
    parse(schema, {}, "json");
    throw new Invalid("The body must be a JSON object");
  }
}

/** @throws Invalid */
function parse(schema: z.ZodType, value: unknown, target: string): unknown {
  const { data, error } = schema.safeParse(value);
  if (error !== undefined) throw new Invalid(refusalOf(error, target));
  return data;
}

/** @throws Invalid if a text is not JSON */
export function jsonValueOf(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    throw new Invalid("The body is not valid JSON");
  }
}

/** A parameter that is there once as a text, another one as a list. */
function queryOf(url: string): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(getQueryParams(url) as Record<string, string[]>).map(([name, values]) =>
      values.length === 1 ? [name, values[0]] : [name, values]
    ),
  );
}

function valuesOf(
  names: readonly string[],
  valueOf: (name: string) => string | undefined,
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const name of names) values[name] = valueOf(name);
  return values;
}

function schemaOf(described: unknown): z.ZodType | undefined {
  return described instanceof z.ZodType ? bounded(described) : undefined;
}

/** The names of the fields that a schema describes. */
function namesOf(described: unknown): readonly string[] {
  return described instanceof z.ZodObject ? Object.keys(described.shape) : [];
}

/** The schema of a body that can only be JSON; undefined for any other body. */
function jsonOf({ content }: Body): z.ZodType | undefined {
  const [media, ...others] = Object.entries(content);
  if (media === undefined || others.length > 0) return undefined;
  const [type, described] = media;
  if (type !== "application/json" || described === undefined) return undefined;
  if (!("schema" in described)) return undefined;
  return described.schema instanceof z.ZodType ? described.schema : undefined;
}
