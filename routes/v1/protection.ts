import { z } from "../extended_zod.ts";
import type { Services } from "../../services/daemon/mod.ts";
import { PROTECTION_EXAMPLE, protectionSchema } from "../../services/protection/schemas.ts";
import { newRoutes } from "../context.ts";
import { callerOf } from "../caller.ts";
import { route } from "../route.ts";
import { errors, json, jsonRequest } from "../schemas.ts";

const params = z.object({ slug: z.string() });

const getProtection = route("GET /v1/projects/{slug}/protection", {
  summary: "Show the rules of a project's protected branches",
  request: { params },
  responses: { 200: json(protectionSchema, "The rules, in order"), ...errors(404) },
});

const setProtection = route("PUT /v1/projects/{slug}/protection", {
  summary: "Replace the rules of a project's protected branches",
  request: { params, body: jsonRequest(protectionSchema, PROTECTION_EXAMPLE) },
  responses: { 200: json(protectionSchema, "The rules, in order"), ...errors(400, 404, 413, 503) },
});

/** `/v1/projects/{slug}/protection`: the rules of protected branches. */
export function protectionRoutes({ hosting }: Pick<Services, "hosting">) {
  const { projects, protection } = hosting;
  return newRoutes()
    .openapi(getProtection, (context) => {
      const { project } = projects.require(context.req.valid("param").slug);
      return context.json(protection.rulesOf(project), 200);
    })
    .openapi(setProtection, async (context) => {
      const { project } = projects.require(context.req.valid("param").slug);
      await protection.set(project, context.req.valid("json"), callerOf(context));
      return context.json(protection.rulesOf(project), 200);
    });
}
