import { z } from "../extended_zod.ts";
import { Invalid } from "../../services/errors.ts";
import type { Backends } from "../../services/llm/mod.ts";
import type { JsonObject, Policies } from "../../services/policies/mod.ts";
import {
  policiesSchema,
  policyPatchSchema,
  policyWarnings,
} from "../../services/policies/schemas.ts";
import { newRoutes } from "../context.ts";
import { callerOf } from "../caller.ts";
import { route } from "../route.ts";
import { errors, json, jsonRequest } from "../schemas.ts";

const policies = policiesSchema.meta({ id: "Policies" });

const getSettings = route("GET /v1/settings", {
  summary: "Show the settings that can change at run time",
  responses: {
    200: json(z.object({ policies }).openapi("Settings"), "The settings"),
    ...errors(404),
  },
});

const getPolicies = route("GET /v1/settings/policies", {
  summary: "The policies of the bots",
  responses: {
    200: json(policies, "The policies, with defaults for settings that are not set"),
    ...errors(404),
  },
});

const warningsHeader = z.string().openapi({
  description: "Settings in the request that have no effect: a JSON array of sentences in ASCII",
  example: '["There is no field of \\"warden\\" called \\"burts\\"; did you mean \\"burst\\"?"]',
});

const putPolicies = route("PUT /v1/settings/policies", {
  summary: "Change policies: sets the given fields, removes those that are null, keeps the rest",
  request: {
    body: jsonRequest(policyPatchSchema.meta({ id: "PolicyChange" }), {
      warden: { enabled: true, messages_per_second: 2 },
    }),
  },
  responses: {
    200: {
      ...json(policies, "All policies after the change"),
      headers: z.object({ "X-Muster-Warnings": warningsHeader.optional() }),
    },
    ...errors(400, 404, 413, 503),
  },
});

/** `/v1/settings…` */
export function settingsRoutes(policies: Policies, backends: Pick<Backends, "list">) {
  return newRoutes()
    .openapi(getSettings, (context) => context.json({ policies: policies.read() }, 200))
    .openapi(getPolicies, (context) => context.json(policies.read(), 200))
    .openapi(putPolicies, async (context) => {
      // The validation reads a missing body as an empty object.
      if (context.req.raw.body === null) throw new Invalid("The body must be a JSON object");
      const change = context.req.valid("json") as JsonObject;
      const names = (await backends.list()).map(({ name }) => name);
      const changed = await policies.change(change, callerOf(context));
      const warnings = policyWarnings(change, names);
      if (warnings.length > 0) context.header("X-Muster-Warnings", asciiJson(warnings));
      return context.json(changed, 200);
    });
}

/** JSON for a header: non-ASCII characters are escaped. */
function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
