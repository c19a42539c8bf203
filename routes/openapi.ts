import type { OpenAPIHono } from "@hono/zod-openapi";
import type { TypedResponse } from "hono";
import { ApiRoutes } from "./api_routes.ts";
import type { AppEnv } from "./environment.ts";
import { z } from "./extended_zod.ts";
import { describeApi, renderDocumentation } from "./documentation/mod.ts";
import { HeldBytes } from "../services/kernel/held_bytes.ts";
import { once } from "./once.ts";
import { json } from "./schemas.ts";
import { specialRoute } from "./special_route.ts";

const encoder = new TextEncoder();

const getDocument = specialRoute("GET /openapi.json", {
  operationId: "getOpenApiDocument",
  summary: "This API as a document of OpenAPI 3.1; needs no credential",
  responses: { 200: json(z.object({ openapi: z.string() }), "The document") },
});

const getPage = specialRoute("GET /docs", {
  operationId: "getDocumentation",
  summary: "The document as a page to read; needs no credential",
  responses: {
    200: { content: { "text/html": { schema: z.string() } }, description: "The page" },
  },
});

/**
 * `GET /openapi.json` and `GET /docs`. Both are made at the first request, when every route is
 * known, and are the same for everybody.
 *
 * @param whole the API with every route
 */
export function openApiRoutes(whole: () => Promise<OpenAPIHono<AppEnv>>) {
  const document = once(async () => describeApi(await whole()));
  const documentText = once(async () =>
    new HeldBytes(encoder.encode(JSON.stringify(await document())))
  );
  const page = once(async () => {
    const { body, contentSecurityPolicy } = await renderDocumentation(await document());
    return { text: new HeldBytes(encoder.encode(body)), contentSecurityPolicy };
  });
  const routes = new ApiRoutes();
  routes.openapi(getDocument, async (context) => {
    const text = await documentText();
    return context.body(text.stream(), 200, {
      "Cache-Control": "no-cache",
      "Content-Length": String(text.length),
      "Content-Type": "application/json",
    }) as unknown as TypedResponse<{ openapi: string }, 200, "json">;
  });
  return routes.openapi(getPage, async (context) => {
    const { text, contentSecurityPolicy } = await page();
    return context.body(text.stream(), 200, {
      "Cache-Control": "no-cache",
      "Content-Length": String(text.length),
      "Content-Type": "text/html; charset=UTF-8",
      "Content-Security-Policy": contentSecurityPolicy,
      "Referrer-Policy": "no-referrer",
    });
  });
}
