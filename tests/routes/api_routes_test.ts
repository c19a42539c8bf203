import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import assert from "node:assert/strict";
import { ApiRoutes } from "../../routes/api_routes.ts";
import type { AppEnv } from "../../routes/environment.ts";
import { jsonBody } from "../../routes/middleware/body.ts";
import { errorHandler, invalidRequest } from "../../routes/middleware/errors.ts";
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
function answering(app: OpenAPIHono<AppEnv>, readsBody: boolean): OpenAPIHono<AppEnv> {
  app.onError(errorHandler(silentLog));
  if (readsBody) app.use(jsonBody({ limits: { maxBytes: 1000, stallMilliseconds: 1000 } }));
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

Deno.test("a request is validated as the base class does it, whatever its body and its type", async () => {
  for (const readsBody of [true, false]) {
    const ours = answering(new ApiRoutes(), readsBody);
    const base = answering(
      new OpenAPIHono<AppEnv>({ strict: false, defaultHook: invalidRequest }),
      readsBody,
    );
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
          const asked = JSON.stringify({ readsBody, path, type, body });
          assert.deepEqual(await ask(ours), await ask(base), asked);
        }
      }
    }
  }
});
