import type { Services } from "../../services/daemon/mod.ts";
import { protectionSchema } from "../../services/protection/schemas.ts";
import { newRoutes } from "../context.ts";
import { callerOf } from "../caller.ts";
import { json, jsonRequest } from "../schemas.ts";
import { projectErrors, projectRoute } from "./route.ts";

/** The rules, as the operator and the project's admins send and see them. */
export const protectionBody = protectionSchema.meta({ id: "Protection" });

/** An example of the body; it is a valid request. */
export const PROTECTION_EXAMPLE = [{
  pattern: "trunk",
  contexts: ["ci/build"],
  approvals: { any: 1, people: 0 },
  push: "admin" as const,
  merge: "write" as const,
  landing: "optional" as const,
}];

const getProtection = projectRoute("GET /api/protection", {
  summary: "The rules of protected branches",
  responses: { 200: json(protectionBody, "The rules, in order"), ...projectErrors() },
});

const setProtection = projectRoute("PUT /api/protection", {
  summary: "Replace the rules of protected branches",
  description: "A rule applies to the branches that match its pattern. If several match, the " +
    "strictest demand of each kind applies. Callers with the scope and the role admin pass every " +
    "rule, except `push: nobody`.",
  request: { body: jsonRequest(protectionBody, PROTECTION_EXAMPLE) },
  responses: { 200: json(protectionBody, "The rules, in order"), ...projectErrors(400, 409, 413) },
});

/** `/api/protection`: the rules of protected branches. */
export function protectionRoutes({ hosting: { protection } }: Pick<Services, "hosting">) {
  return newRoutes()
    .openapi(getProtection, (context) => {
      const { project } = context.get("access");
      return context.json([...protection.rulesOf(project)], 200);
    })
    .openapi(setProtection, async (context) => {
      const { project } = context.get("access");
      await protection.set(project, context.req.valid("json"), callerOf(context));
      return context.json([...protection.rulesOf(project)], 200);
    });
}
