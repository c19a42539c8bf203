import { NO_POLICIES } from "./policies.ts";
import { z } from "zod";
import { NotFound, SwitchedOff, Unavailable } from "../../kernel/errors.ts";
import { serverOperation, WithHeaders } from "../../people/identity/server_operation.ts";
import type { Backends } from "../../models/llm/mod.ts";
import type { Policies } from "./policies.ts";
import { policiesSchema, policyPatchSchema, policyWarnings } from "./schemas.ts";
import type { JsonObject } from "./merge_patch.ts";

/** What the operations on policies call. */
interface PolicyServices {
  /** Null if the configuration turns the policy store off. */
  readonly policies: Policies | null;
  readonly llm: { readonly backends: Pick<Backends, "list"> };
}

const allPolicies = policiesSchema.meta({ id: "Policies" });
const isOff = { error: NotFound };

/** @throws SwitchedOff */
function present({ policies }: PolicyServices): Policies {
  if (policies !== null) return policies;
  throw new SwitchedOff(NO_POLICIES);
}

export const getSettings = serverOperation({
  http: "GET /v1/settings",
  on: "server",
  summary: "Show the settings that can change at run time",
  input: z.object({}),
  ok: {
    schema: z.object({ policies: allPolicies }).meta({ id: "Settings" }),
    description: "The settings",
  },
  refusals: [isOff],
}, (services: PolicyServices) => ({ policies: present(services).read() }));

export const getPolicies = serverOperation({
  http: "GET /v1/settings/policies",
  on: "server",
  summary: "The policies of the bots",
  input: z.object({}),
  ok: {
    schema: allPolicies,
    description: "The policies, with defaults for settings that are not set",
  },
  refusals: [isOff],
}, (services: PolicyServices) => present(services).read());

export const changePolicies = serverOperation({
  http: "PUT /v1/settings/policies",
  on: "server",
  whileFull: true,
  summary: "Change policies: sets the given fields, removes those that are null, keeps the rest",
  input: policyPatchSchema,
  bodyName: "PolicyChange",
  example: { warden: { enabled: true, messages_per_second: 2 } },
  ok: {
    schema: allPolicies,
    description: "All policies after the change",
    headers: z.object({
      "X-Muster-Warnings": z.string().optional().meta({
        description:
          "Settings in the request that have no effect: a JSON array of sentences in ASCII",
        example:
          '["There is no field of \\"warden\\" called \\"burts\\"; did you mean \\"burst\\"?"]',
      }),
    }),
  },
  refusals: [isOff, { error: Unavailable }],
}, async (services: PolicyServices, change, { caller }) => {
  const policies = present(services);
  const names = (await services.llm.backends.list()).map(({ name }) => name);
  const changed = await policies.change(change as JsonObject, caller);
  const warnings = policyWarnings(change as JsonObject, names);
  if (warnings.length === 0) return changed;
  return new WithHeaders(changed, { "X-Muster-Warnings": asciiJson(warnings) });
});

/** JSON for a header: non-ASCII characters are escaped. */
function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
