import type { Services } from "../../services/daemon/mod.ts";
import { protectionSchema } from "../../services/protection/mod.ts";
import { callerOf } from "../context.ts";
import { json, jsonRequest } from "../schemas.ts";
import { newProjectRoutes } from "./context.ts";
import { projectErrors, projectRoute } from "./route.ts";

/** What the operator and the project's own admins send and see alike. */
export const protectionBody = protectionSchema.meta({ id: "Protection" });

/** A body that readers of the documentation can send as it is. */
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
  description: "A rule concerns the branches that its pattern fits. Where several fit, the " +
    "strictest demand of each kind counts. Callers with the scope and the role admin pass every " +
    "rule, but nobody pushes where `push` is `nobody`.",
  request: { body: jsonRequest(protectionBody, PROTECTION_EXAMPLE) },
  responses: { 200: json(protectionBody, "The rules, in order"), ...projectErrors(400, 409, 413) },
});

/** `/api/protection`: what branches demand. */
export function protectionRoutes({ hosting: { protection } }: Pick<Services, "hosting">) {
  return newProjectRoutes()
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
