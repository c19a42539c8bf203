import { Buffer } from "node:buffer";
import type { OpenAPIHono } from "@hono/zod-openapi";
import { Hono, type TypedResponse } from "hono";
import type { JSONValue } from "hono/utils/types";
import { MAX_URL_LENGTH } from "../../http/mod.ts";
import { bounded } from "../../services/kernel/validation/schemas.ts";
import { ApiRoutes } from "../api_routes.ts";
import { z } from "../extended_zod.ts";
import type { AppEnv, InnerCaller } from "../environment.ts";
import { enterProjectAgain } from "./access.ts";
import type { Services } from "../../services/operation/daemon/mod.ts";
import { errorHandler } from "../middleware/errors.ts";
import { json, jsonRequest } from "../schemas.ts";
import { projectErrors } from "./route.ts";
import { specialRoute } from "../special_route.ts";

const MAX_ITEMS = 25;
/** Most bytes of all bodies in one response; further items are refused. */
const MAX_BYTES = 16 * 1024 * 1024;
/** The origin by which the paths of items are read. */
const ORIGIN = "http://batch";

const itemSchema = z.object({
  status: z.int(),
  body: z.unknown().openapi({
    description: "JSON unchanged, text as a string, other bytes as `{content_base64}`",
  }),
});

const answerSchema = z.object({ responses: z.array(itemSchema) }).openapi("BatchAnswer");

const batch = specialRoute("POST /api/batch", {
  operationId: "runBatch",
  summary: "Up to 25 reads in one request",
  description:
    "Each item is a GET request to this API, with the rights of the caller; its query may be " +
    "in `path`, in `params`, or in both. Archives and streams are refused. If an item fails, " +
    "the others still succeed.",
  request: {
    body: jsonRequest(
      z.object({
        requests: z.array(z.unknown(), { error: "'requests' must be a list" })
          .max(MAX_ITEMS, { error: `Maximum ${MAX_ITEMS} requests per batch` })
          .openapi({
            description: "Objects with `path`, `method` (GET if absent) and `params`",
          }),
      }).meta({ id: "BatchRequest" }),
      { requests: [{ method: "GET", path: "/api/timeline", params: { per_page: 5 } }] },
    ),
  },
  responses: {
    200: json(answerSchema, "The response to each item, in the same order"),
    ...projectErrors(400, 413),
  },
});

/** An item; each field is checked separately. */
const requestSchema = z.object({
  method: z.string().nullish(),
  path: z.string().nullish(),
  params: bounded(z.record(z.string(), z.unknown())).nullish(),
});

interface BatchAnswer {
  readonly responses: { readonly status: number; readonly body: JSONValue }[];
}

/** The response to an item as JSON text. */
interface ItemAnswer {
  readonly text: string;
  /** Bytes of its body. */
  readonly bytes: number;
}

type BatchServices = Pick<Services, "hosting" | "log" | "space">;

/** `/api/batch`; `api` returns the routes for the items. */
export function batchRoutes(
  services: BatchServices,
  api: () => OpenAPIHono<AppEnv>,
) {
  let items: Hono<AppEnv> | null = null;
  return new ApiRoutes().openapi(batch, async (context) => {
    items ??= itemRoutes(services, api());
    const { requestId, address, secure, principal, access, prove } = context.var;
    const caller = { requestId, address, secure, principal, access, prove };
    const answers: string[] = [];
    let bytes = 0;
    for (const item of context.req.valid("json").requests) {
      const answer = bytes > MAX_BYTES
        ? refusal(413, "The responses of this batch are too long together")
        : await answerOf(items, item, caller);
      bytes += answer.bytes;
      answers.push(answer.text);
    }
    const text = `{"responses":[${answers.join()}]}`;
    const headers = { "Content-Type": "application/json" };
    return context.body(text, 200, headers) as unknown as TypedResponse<BatchAnswer, 200, "json">;
  });
}

/** Values of an item's request that are those of the batch. */
const INHERITED = ["requestId", "address", "secure", "principal", "access", "prove"] as const;

/** The routes for items, for a caller who is already authenticated. */
function itemRoutes(services: BatchServices, api: OpenAPIHono<AppEnv>): Hono<AppEnv> {
  const routes = new Hono<AppEnv>();
  const enterAgain = enterProjectAgain(services);
  routes.onError(errorHandler(services.log));
  routes.notFound(({ json, req }) => json({ error: `Unknown API path: ${req.path}` }, 404));
  routes.use(async (context, next) => {
    const { inner } = context.env;
    if (inner === undefined) throw new Error("An item of a batch has a caller");
    for (const name of INHERITED) context.set(name, inner[name]);
    context.set("enterAgain", enterAgain);
    context.set("space", services.space);
    await next();
  });
  return routes.route("/", api);
}

function refusal(status: number, error: string): ItemAnswer {
  return { text: JSON.stringify({ status, body: { error } }), bytes: 0 };
}

async function answerOf(
  items: Hono<AppEnv>,
  item: unknown,
  inner: InnerCaller,
): Promise<ItemAnswer> {
  const path = pathOf(item);
  if (typeof path !== "string") return path;
  const env = { remoteAddress: inner.address, inner };
  const response = await items.request(`${ORIGIN}${path}`, {}, env);
  const type = response.headers.get("content-type") ?? "";
  if (Number(response.headers.get("content-length")) > MAX_BYTES) {
    await response.body?.cancel();
    return refusal(413, "The content is too long for a batch");
  }
  const body = new Uint8Array(await response.arrayBuffer());
  const isJson = type.startsWith("application/json") && body.length > 0;
  const text = isJson ? new TextDecoder().decode(body) : JSON.stringify(bodyOf(type, body));
  return { text: `{"status":${response.status},"body":${text}}`, bytes: body.length };
}

/** The path of an item with its query, or why it is refused. */
function pathOf(item: unknown): string | ItemAnswer {
  if (typeof item !== "object" || item === null || Array.isArray(item)) {
    return refusal(400, "Each request must be an object");
  }
  const { success, data, error } = requestSchema.safeParse(item);
  if (!success) {
    const [issue] = error.issues;
    const fault = issue?.code === "custom" ? issue.message : "has the wrong type";
    return refusal(400, `"${String(issue?.path[0] ?? "method")}" of a request ${fault}`);
  }
  const { method, path, params } = data;
  if ((method ?? "GET").toUpperCase() !== "GET") {
    return refusal(405, "Only GET is supported in batch requests");
  }
  if (path === undefined || path === null || path === "") return refusal(400, "Missing 'path'");
  if (path.length > MAX_URL_LENGTH) return refusedUrl();
  const url = path.startsWith("/") ? URL.parse(`${ORIGIN}${path}`) : null;
  if (url === null || !/^\/api(?:\/|$)/.test(url.pathname)) {
    return refusal(404, `Unknown API path: ${path.slice(0, 200)}`);
  }
  // Appended all at once: each change of `url.searchParams` would write the whole query again.
  const query = new URLSearchParams(url.search);
  for (const [name, value] of Object.entries(params ?? {})) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one === null || one === undefined) continue;
      query.append(name, typeof one === "string" ? one : JSON.stringify(one));
    }
  }
  const target = query.size === 0 ? url.pathname : `${url.pathname}?${query}`;
  return target.length > MAX_URL_LENGTH ? refusedUrl() : target;
}

function refusedUrl(): ItemAnswer {
  return refusal(414, `The path and params have more than ${MAX_URL_LENGTH} characters`);
}

/** What stands for a body that is not JSON. */
function bodyOf(type: string, bytes: Uint8Array): unknown {
  if (bytes.length === 0) return null;
  if (/^(?:text\/|image\/svg\+xml)/.test(type)) return new TextDecoder().decode(bytes);
  return { content_base64: Buffer.from(bytes).toString("base64") };
}
