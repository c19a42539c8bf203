import { definitionJsonSchema } from "../services/work/definitions/schemas.ts";
import { ApiRoutes } from "./api_routes.ts";
import { z } from "./extended_zod.ts";
import { specialRoute } from "./special_route.ts";

const getCheckSchema = specialRoute("GET /schemas/checks.json", {
  operationId: "getCheckSchema",
  summary: "The JSON Schema of .muster/checks.yaml, for editors; needs no credential",
  responses: {
    200: {
      content: { "application/schema+json": { schema: z.looseObject({}) } },
      description: "JSON Schema, draft 2020-12",
    },
  },
});

/** `GET /schemas/checks.json`. */
export function checkSchemaRoutes() {
  const text = JSON.stringify(definitionJsonSchema());
  return new ApiRoutes().openapi(
    getCheckSchema,
    (context) =>
      context.body(text, 200, {
        "Content-Type": "application/schema+json",
        "Cache-Control": "no-cache",
      }) as never,
  );
}
