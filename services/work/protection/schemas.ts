import { z } from "zod";
import { CHECK_STATES } from "../checks/schemas.ts";
import { trimmedLineSchema } from "../../kernel/validation/schemas.ts";

const MAX_RULES = 100;
const MAX_CONTEXTS = 50;
const MAX_TEXT = 200;
const MAX_APPROVALS = 20;
const MAX_REPORTERS = 20;

const text = trimmedLineSchema(1, MAX_TEXT);

const approvals = z.int({ error: "must be a whole number" }).min(0).max(MAX_APPROVALS).default(0);

const reporter = text.describe(
  'The name of an account, or "token:" and the name of a project token',
);

/** A check that must pass, and who may report it beside those who always may. */
const contextSchema = z.union([
  text,
  z.strictObject({
    context: text,
    reporters: z.array(reporter).max(MAX_REPORTERS, {
      error: `must name at most ${MAX_REPORTERS}`,
    }).default([]),
  }),
]);

/** A rule for the branches that match a pattern. */
export const ruleSchema = z.object({
  pattern: text.describe("A pattern of branch names: * matches any characters, ? exactly one"),
  contexts: z.array(contextSchema).max(MAX_CONTEXTS, {
    error: `must name at most ${MAX_CONTEXTS}`,
  }).default([]).describe(
    "Checks that must be success on the merged check-in. Reports count from project tokens with the " +
      "scope status:write and from `reporters`, and never from those whose work is under test",
  ),
  approvals: z.object({
    any: approvals.describe("Required approvals by anybody but the author"),
    people: approvals.describe("Required approvals by people and admins"),
  }).prefault({}),
  push: z.enum(["write", "admin", "nobody"], {
    error: 'must be "write", "admin" or "nobody"',
  }).default("write").describe("Who may push check-ins"),
  merge: z.enum(["write", "admin"], { error: 'must be "write" or "admin"' }).default("write")
    .describe("Who may merge"),
  landing: z.enum(["optional", "required"], { error: 'must be "optional" or "required"' })
    .default("optional").describe("Whether changes must go through the landing queue"),
});

/** All rules of a project. */
export const protectionSchema = z.array(ruleSchema).max(MAX_RULES, {
  error: `A project has at most ${MAX_RULES} rules`,
}).meta({ id: "Protection" });

/** A body that sets rules. */
export const PROTECTION_EXAMPLE = [{
  pattern: "trunk",
  contexts: ["ci/build"],
  approvals: { any: 1, people: 0 },
  push: "admin" as const,
  merge: "write" as const,
  landing: "optional" as const,
}];

/** A check that a rule demands, as it stands for a check-in under test. */
export const requiredCheckSchema = z.object({
  context: z.string(),
  state: z.enum(CHECK_STATES).meta({
    description: "What the newest report that counts says; pending if there is none",
  }),
  reporter: z.string().nullable().meta({
    description: "Who made that report; null if there is none",
  }),
  uncounted: z.array(z.string()).meta({
    description: "Who made newer reports that do not count: whose work is under test, or whom no " +
      "rule trusts",
  }),
  reporters: z.array(z.string()).meta({
    description: "Who may report it, beside project tokens with the scope status:write",
  }),
}).meta({ id: "RequiredCheck" });

export type RequiredCheck = z.output<typeof requiredCheckSchema>;
export type Rule = z.infer<typeof ruleSchema>;
