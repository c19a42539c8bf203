import { z } from "zod";
import { Conflict, Invalid, NotFound, Unavailable } from "../../kernel/errors.ts";
import { serverOperation } from "../identity/server_operation.ts";
import { describeIssue } from "../../kernel/validation/mod.ts";
import { AGENT_TYPES } from "./records.ts";
import type { Halts } from "./halts.ts";
import { haltSchema, resumeSchema } from "./schemas.ts";

/** What the operations of the stop button call. */
interface HaltServices {
  readonly agents: { readonly halts: Halts };
}

const ruleShape = {
  halted: z.boolean().meta({
    description: "False for those that were resumed while the others stay halted",
  }),
  reason: z.string().nullable(),
  by: z.string().meta({ description: "Who halted or resumed them" }),
  since: z.iso.datetime(),
};

const stateSchema = z.object({
  halted: z.boolean().meta({
    description: "Whether all agents are halted, except for those that were resumed",
  }),
  reason: z.string().nullable(),
  by: z.string().nullable(),
  since: z.iso.datetime().nullable(),
  types: z.array(z.object({ type: z.string(), ...ruleShape })).readonly().meta({
    description: "Types that were halted or resumed by themselves",
  }),
  agents: z.array(z.object({ nick: z.string(), ...ruleShape })).readonly().meta({
    description: "Agents that were halted or resumed by themselves",
  }),
  agents_halted: z.int().meta({ description: "The number of active agents that are halted" }),
}).meta({ id: "Halt" });

const listSchema = z.string().min(1).max(16_000).optional();

export const getHalt = serverOperation({
  http: "GET /v1/halt",
  on: "coordination",
  summary: "Show which agents are halted",
  input: z.object({}),
  ok: { schema: stateSchema, description: "Who is halted, since when, by whom and why" },
}, ({ agents }: HaltServices) => agents.halts.read());

export const haltAgents = serverOperation({
  http: "POST /v1/halt",
  on: "server",
  whileFull: true,
  summary: "Halt agents: all of them, or the named agents and types",
  description: "A halted agent may read, but not say or change anything, on any interface: it " +
    "gets 423 over HTTP. Its running calls of models end, and its claims stop running out.",
  input: haltSchema,
  bodyName: "HaltRequest",
  example: { reason: "Wrong branch merged" },
  hasOptionalBody: true,
  ok: { schema: stateSchema, description: "The halt is in force, and on disk" },
  refusals: [{ error: NotFound }, { error: Conflict }, { error: Unavailable }],
}, ({ agents }: HaltServices, request, { caller }) => agents.halts.halt(request, caller));

export const resumeAgents = serverOperation({
  http: "DELETE /v1/halt",
  on: "server",
  summary: "Let agents go on: all of them, or the named agents and types",
  input: z.object({
    agents: listSchema.meta({ description: "Nicks, separated by commas" }),
    types: listSchema.meta({
      description: `Types, separated by commas: ${AGENT_TYPES.join(", ")}`,
    }),
  }),
  ok: { schema: stateSchema, description: "Who is still halted" },
  refusals: [{ error: NotFound }, { error: Conflict }],
}, async ({ agents: { halts } }: HaltServices, { agents, types }, { caller }) => {
  const { data, error } = resumeSchema.safeParse({ agents: named(agents), types: named(types) });
  if (data !== undefined) return await halts.resume(data, caller);
  const [issue] = error.issues;
  throw new Invalid(issue === undefined ? "The query is not valid" : describeIssue(issue));
});

function named(list: string | undefined): string[] {
  return list === undefined ? [] : list.split(",").map((name) => name.trim());
}
