import type { RouteConfig } from "@hono/zod-openapi";
import type { Context, Handler, HonoRequest, Next } from "hono";
import { HTTPException } from "hono/http-exception";
import { Invalid } from "../../services/kernel/errors.ts";
import { z } from "../extended_zod.ts";
import type { AppEnv } from "../environment.ts";
import { JSON_TYPE, parseJson } from "./body.ts";
import { invalidRequest } from "./errors.ts";

/** A part of a request that has a schema. */
type Target = "query" | "param" | "header";

/** Reads the part of a request that a schema describes. */
type Reader = (request: HonoRequest) => Record<string, unknown>;

/** A described part of a request. */
interface Part {
  readonly target: Target;
  readonly schema: z.ZodType;
  readonly read: Reader;
}

/**
 * Creates a handler that first validates the query, the path, the headers and a body of JSON, in
 * this order, by the schemas of its route. All of it is one handler, because each one costs some
 * microseconds.
 *
 * @param body the schema of a body that must be there; undefined if something else validates it
 */
export function validated(
  request: RouteConfig["request"],
  body: z.ZodType | undefined,
  handler: Handler<AppEnv>,
): Handler<AppEnv> {
  const { query, params, headers } = request ?? {};
  const described: readonly [Target, z.ZodType | undefined, Reader][] = [
    ["query", query, queryOf],
    ["param", params, paramsOf(params)],
    ["header", headers as z.ZodType | undefined, headersOf(headers)],
  ];
  const parts = described.flatMap(([target, schema, read]): Part[] =>
    schema === undefined ? [] : [{ target, schema, read }]
  );
  if (body === undefined) {
    return (context, next) => refusalOf(context, parts) ?? handler(context, next);
  }
  const withBody = (value: unknown, context: Context<AppEnv>, next: Next) =>
    accept(context, { target: "json", schema: body }, value) ?? handler(context, next);
  return (context, next) => {
    const refusal = refusalOf(context, parts);
    if (refusal !== undefined) return refusal;
    const text = context.get("body");
    if (text !== undefined) return withBody(parseJson(text), context, next);
    return laterBody(context).then((value) => {
      if (value !== undefined) return withBody(value, context, next);
      // The refusal names a field that is required; a body of which none is must be there too.
      const refusal = accept(context, { target: "json", schema: body }, {});
      if (refusal !== undefined) return refusal;
      throw new Invalid("The body must be a JSON object");
    });
  };
}

/** Validates the parts of a request. Returns the answer if one is refused. */
function refusalOf(context: Context<AppEnv>, parts: readonly Part[]): Response | undefined {
  for (const part of parts) {
    const refusal = accept(context, part, part.read(context.req));
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

function accept(
  context: Context<AppEnv>,
  { target, schema }: { readonly target: Target | "json"; readonly schema: z.ZodType },
  value: unknown,
): Response | undefined {
  const { data, error } = schema.safeParse(value);
  if (error !== undefined) {
    const refusal = invalidRequest({ target, success: false, error }, context);
    if (refusal !== undefined) return refusal;
  }
  context.req.addValidatedData(target, data as object);
  return undefined;
}

/** The body of a request for which nothing has read it yet; undefined if it has none. */
async function laterBody({ req }: Context<AppEnv>): Promise<unknown> {
  const type = req.header("content-type");
  if (type === undefined && await req.text() === "") return undefined;
  if (!JSON_TYPE.test(type ?? "")) {
    throw new HTTPException(415, { message: "Unsupported Media Type" });
  }
  return parseJson(await req.text());
}

/** A parameter that is there once as a text, another one as a list. */
function queryOf(request: HonoRequest): Record<string, unknown> {
  if (!request.url.includes("?")) return {};
  return Object.fromEntries(
    Object.entries(request.queries()).map(([name, values]) =>
      values.length === 1 ? [name, values[0]] : [name, values]
    ),
  );
}

/** Reads the parameters of the path that a schema describes: all at once would take twice as long. */
function paramsOf(schema: unknown): Reader {
  if (!(schema instanceof z.ZodObject)) return (request) => request.param();
  const names = Object.keys(schema.shape);
  return (request) => {
    const params: Record<string, unknown> = {};
    for (const name of names) params[name] = request.param(name);
    return params;
  };
}

/** Reads the headers that a schema describes under its names: the runtime's are in lower case. */
function headersOf(schema: unknown): Reader {
  const names = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
  return (request) => {
    const headers: Record<string, unknown> = request.header();
    for (const name of names) headers[name] ??= headers[name.toLowerCase()];
    return headers;
  };
}
