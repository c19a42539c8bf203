import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import assert from "node:assert/strict";
import { ApiRoutes } from "../../routes/api_routes.ts";
import type { AppEnv } from "../../routes/environment.ts";
import { jsonBody } from "../../routes/middleware/body.ts";
import { errorHandler, refusalOf } from "../../routes/middleware/errors.ts";
import { BodyReader } from "../../http/mod.ts";
import { Invalid } from "../../services/kernel/errors.ts";
import { silentLog } from "../../services/kernel/log.ts";

const ROUTE = createRoute({
  method: "post",
  path: "/things/{id}",
  request: {
    query: z.object({ page: z.string().regex(/^\d+$/).optional() }).strict(),
    params: z.object({ id: z.string().max(3) }),
    body: {
      content: {
        "application/json": { schema: z.object({ a: z.string(), b: z.int().default(1) }) },
      },
      required: true,
    },
  },
  responses: { 200: { description: "What was understood" } },
});

/** An application that answers with what it understood. */
function answering(app: OpenAPIHono<AppEnv>): OpenAPIHono<AppEnv> {
  app.onError(errorHandler(silentLog));
  app.openapi(ROUTE, (context) =>
    context.json([
      context.req.valid("query"),
      context.req.valid("param"),
      context.req.valid("json"),
    ]));
  return app;
}

const TYPES = [
  undefined,
  "application/json",
  "application/json; charset=utf-8",
  "application/vnd.api+json",
  "text/plain",
  "application/x-www-form-urlencoded",
];
const BODIES = [undefined, "", "{}", '{"a": 1}', '{"a": "x"}', '{"a": "x", "b": 2}', "{", "null"];
const PATHS = [
  "/things/1",
  "/things/1?page=2",
  "/things/1?page=x",
  "/things/1?other=1",
  "/things/1234",
];

/** The routes of the base class, which read the body themselves. */
function ofBase(): OpenAPIHono<AppEnv> {
  const app = new OpenAPIHono<AppEnv>({
    strict: false,
    defaultHook: (result) => {
      if (!result.success) throw new Invalid(refusalOf(result.error, result.target));
    },
  });
  // A body is JSON whatever its type.
  app.use(async (context, next) => {
    const headers = new Headers(context.req.raw.headers);
    if (headers.has("content-length")) headers.set("content-type", "application/json");
    context.req.raw = new Request(context.req.raw, { headers });
    await next();
  });
  return app;
}

function ours(): OpenAPIHono<AppEnv> {
  const app = new ApiRoutes();
  const bodies = new BodyReader({ maxBytes: 1000, stallMilliseconds: 1000 });
  app.use(jsonBody({ readerFor: () => bodies }));
  return app;
}

Deno.test("a request is validated as the base class does it, whatever its body and its type", async () => {
  const apps = [answering(ours()), answering(ofBase())] as const;
  for (const path of PATHS) {
    for (const type of TYPES) {
      for (const body of BODIES) {
        const ask = async (app: OpenAPIHono<AppEnv>) => {
          const bytes = body === undefined ? null : new TextEncoder().encode(body);
          const headers = new Headers(type === undefined ? {} : { "Content-Type": type });
          if (bytes !== null) headers.set("Content-Length", String(bytes.length));
          const request = new Request(`http://localhost${path}`, {
            method: "POST",
            headers,
            body: bytes,
          });
          const response = await app.fetch(request);
          return [response.status, await response.text()];
        };
        const asked = JSON.stringify({ path, type, body });
        assert.deepEqual(await ask(apps[0]), await ask(apps[1]), asked);
      }
    }
  }
});
