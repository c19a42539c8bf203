import { z } from "zod";
import { Conflict } from "../../kernel/errors.ts";
import { operation } from "../projects/operation.ts";
import type { Protection } from "./protection.ts";
import { PROTECTION_EXAMPLE, protectionSchema } from "./schemas.ts";

/** What the operations on protected branches call. */
interface ProtectionServices {
  readonly hosting: { readonly protection: Protection };
}

const ok = { schema: protectionSchema, description: "The rules, in order" };

export const getProtection = operation(
  {
    http: "GET /api/protection",
    needs: "read",
    summary: "The rules of protected branches",
    input: z.object({}),
    ok,
  },
  ({ hosting: { protection } }: ProtectionServices, _input, { project }) =>
    protection.rulesOf(project),
);

export const setProtection = operation({
  http: "PUT /api/protection",
  needs: "admin",
  callers: "no passphrase",
  whileFull: true,
  summary: "Replace the rules of protected branches",
  description: "A rule applies to the branches that match its pattern. If several match, the " +
    "strictest demand of each kind applies. Callers with the scope and the role admin pass every " +
    "rule, except `push: nobody`.",
  input: z.object({ rules: protectionSchema }),
  bodyField: "rules",
  example: PROTECTION_EXAMPLE,
  ok,
  refusals: [{ error: Conflict }],
}, async ({ hosting: { protection } }: ProtectionServices, { rules }, { project, caller }) => {
  await protection.set(project, rules, caller);
  return protection.rulesOf(project);
});
