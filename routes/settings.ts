import { createRoute, z } from "@hono/zod-openapi";
import { Invalid, NotFound } from "../services/errors.ts";
import {
  type JsonObject,
  type Policies,
  policiesSchema,
  policyPatchSchema,
} from "../services/policies/mod.ts";
import { openTo } from "./access.ts";
import { callerOf, newRoutes } from "./context.ts";
import { errors, json, jsonRequest } from "./schemas.ts";

const policies = policiesSchema.meta({ id: "Policies" });

const getSettings = createRoute({
  method: "get",
  path: "/v1/settings",
  summary: "What can be set while the program runs",
  ...openTo("operator"),
  responses: {
    200: json(z.object({ policies }).openapi("Settings"), "The settings"),
    ...errors(404),
  },
});

const getPolicies = createRoute({
  method: "get",
  path: "/v1/settings/policies",
  summary: "The policies of the bots",
  ...openTo("operator"),
  responses: {
    200: json(policies, "The policies, with defaults for what nobody has set"),
    ...errors(404),
  },
});

const putPolicies = createRoute({
  method: "put",
  path: "/v1/settings/policies",
  summary: "Change policies: what is named is set, what is null is removed, the rest stays",
  ...openTo("operator"),
  request: { body: jsonRequest(policyPatchSchema.meta({ id: "PolicyChange" })) },
  responses: {
    200: json(policies, "All policies after the change"),
    ...errors(400, 404, 413, 503),
  },
});

/** `/v1/settings…` */
export function settingsRoutes(policies: Policies | null) {
  if (policies === null) return disabledRoutes();
  return newRoutes()
    .openapi(getSettings, (context) => context.json({ policies: policies.read() }, 200))
    .openapi(getPolicies, (context) => context.json(policies.read(), 200))
    .openapi(putPolicies, async (context) => {
      // To the validation a request without a body is an empty object.
      if (context.req.raw.body === null) throw new Invalid("The body must be a JSON object");
      const change = context.req.valid("json") as JsonObject;
      return context.json(await policies.change(change, callerOf(context)), 200);
    });
}

function disabledRoutes() {
  return newRoutes().on(["GET", "PUT"], ["/v1/settings", "/v1/settings/*"], () => {
    throw new NotFound("There are no settings: policies.enabled is false in the configuration");
  });
}
