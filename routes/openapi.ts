import type { OpenAPIHono } from "@hono/zod-openapi";
import { z } from "./extended_zod.ts";
import { type AppEnv, newRoutes } from "./context.ts";
import { describeApi, renderDocumentation } from "./documentation/mod.ts";
import { once } from "./once.ts";
import { route } from "./route.ts";
import { json } from "./schemas.ts";

const getDocument = route("GET /openapi.json", {
  summary: "This API as a document of OpenAPI 3.1; needs no credential",
  responses: { 200: json(z.object({ openapi: z.string() }), "The document") },
});

const getPage = route("GET /docs", {
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
  const page = once(async () => renderDocumentation(await document()));
  const routes = newRoutes();
  routes.openapi(getDocument, async (context) => {
    const answer: { openapi: string } = await document();
    return context.json(answer, 200, { "Cache-Control": "no-cache" });
  });
  return routes.openapi(getPage, async (context) => {
    const { body, contentSecurityPolicy } = await page();
    return context.html(body, 200, {
      "Cache-Control": "no-cache",
      "Content-Security-Policy": contentSecurityPolicy,
      "Referrer-Policy": "no-referrer",
    });
  });
}
