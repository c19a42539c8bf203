import { z } from "../extended_zod.ts";
import type { Halts } from "../../services/agents/mod.ts";
import { haltSchema, resumeSchema } from "../../services/agents/schemas.ts";
import { AGENT_TYPES } from "../../services/agents/mod.ts";
import { Invalid } from "../../services/errors.ts";
import { describeIssue } from "../../services/validation/mod.ts";
import { newRoutes } from "../context.ts";
import { callerOf } from "../caller.ts";
import { optionalBody } from "../middleware/body.ts";
import { route } from "../route.ts";
import { errors, json, optionalJsonRequest } from "../schemas.ts";

const ruleShape = {
  halted: z.boolean().openapi({
    description: "False for those that were resumed while the others stay halted",
  }),
  reason: z.string().nullable(),
  by: z.string().openapi({ description: "Who halted or resumed them" }),
  since: z.iso.datetime(),
};

const stateSchema = z.object({
  halted: z.boolean().openapi({
    description: "Whether all agents are halted, except for those that were resumed",
  }),
  reason: z.string().nullable(),
  by: z.string().nullable(),
  since: z.iso.datetime().nullable(),
  types: z.array(z.object({ type: z.string(), ...ruleShape })).openapi({
    description: "Types that were halted or resumed by themselves",
  }),
  agents: z.array(z.object({ nick: z.string(), ...ruleShape })).openapi({
    description: "Agents that were halted or resumed by themselves",
  }),
  agents_halted: z.int().openapi({ description: "The number of active agents that are halted" }),
}).openapi("Halt");

const listSchema = z.string().min(1).max(16_000).optional();

const getHalt = route("GET /v1/halt", {
  summary: "Show which agents are halted",
  responses: { 200: json(stateSchema, "Who is halted, since when, by whom and why"), ...errors() },
});

const halt = route("POST /v1/halt", {
  summary: "Halt agents: all of them, or the named agents and types",
  description:
    "A halted agent may read, but not say or change anything, on any interface: it gets " +
    "423 over HTTP. Its running calls of models end, and its claims stop running out.",
  request: {
    body: optionalJsonRequest(haltSchema.meta({ id: "HaltRequest" }), {
      reason: "Wrong branch merged",
    }),
  },
  responses: {
    200: json(stateSchema, "The halt is in force, and on disk"),
    ...errors(400, 404, 409, 413, 503),
  },
}, optionalBody());

const resume = route("DELETE /v1/halt", {
  summary: "Let agents go on: all of them, or the named agents and types",
  request: {
    query: z.object({
      agents: listSchema.openapi({ description: "Nicks, separated by commas" }),
      types: listSchema.openapi({
        description: `Types, separated by commas: ${AGENT_TYPES.join(", ")}`,
      }),
    }),
  },
  responses: { 200: json(stateSchema, "Who is still halted"), ...errors(400, 404, 409, 503) },
});

/** `/v1/halt`: the stop button. */
export function haltRoutes(halts: Pick<Halts, "read" | "halt" | "resume">) {
  return newRoutes()
    .openapi(getHalt, (context) => context.json(copied(halts.read()), 200))
    .openapi(halt, async (context) => {
      const request = haltSchema.parse(context.req.valid("json") ?? {});
      return context.json(copied(await halts.halt(request, callerOf(context))), 200);
    })
    .openapi(resume, async (context) => {
      const { agents, types } = context.req.valid("query");
      const { data, error } = resumeSchema.safeParse({
        agents: named(agents),
        types: named(types),
      });
      if (data === undefined) {
        const [issue] = error.issues;
        throw new Invalid(issue === undefined ? "The query is not valid" : describeIssue(issue));
      }
      return context.json(copied(await halts.resume(data, callerOf(context))), 200);
    });
}

function named(list: string | undefined): string[] {
  return list === undefined ? [] : list.split(",").map((name) => name.trim());
}

/** The schemas of answers know no readonly lists. */
function copied({ types, agents, ...state }: ReturnType<Halts["read"]>) {
  return { ...state, types: [...types], agents: [...agents] };
}
