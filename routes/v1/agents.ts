import { z } from "../extended_zod.ts";
import type { Agents, Slots } from "../../services/agents/mod.ts";
import type { Attention } from "../../services/attention/mod.ts";
import { slotsSchema } from "../../services/agents/schemas.ts";
import {
  adoptionSchema,
  agentChangeSchema,
  pauseSchema,
  rateLimitSchema,
  registrationSchema,
  rotationSchema,
} from "../../services/agents/schemas.ts";
import { NotFound } from "../../services/errors.ts";
import { WORK_STATES } from "../../services/work_states.ts";
import { newRoutes } from "../context.ts";
import { callerOf } from "../caller.ts";
import { optionalBody } from "../middleware/body.ts";
import { route } from "../route.ts";
import { textAnswer } from "../json_text.ts";
import { errors, json, jsonRequest, optionalJsonRequest, wholeNumber } from "../schemas.ts";

/** Most agents of one page. */
const MAX_LIMIT = 1000;

const agentSchema = z.object({
  nick: z.string(),
  type: z.string(),
  channels: z.array(z.string()).openapi({ description: "Names with #" }),
  revoked: z.boolean(),
  paused: z.boolean().openapi({
    description: "Whether every message is refused until the agent is resumed",
  }),
  pause_reason: z.string().nullable(),
  created_at: z.iso.datetime(),
  last_seen: z.iso.datetime().nullable(),
  online: z.boolean().openapi({
    description: "Whether it has a live IRC session, or was active within two minutes",
  }),
  state: z.enum(WORK_STATES).openapi({
    description:
      "What it does: it is halted; waits for an answer or a verdict; works, that is, it " +
      "holds a claim, committed to a workspace within the last hour, or waits for a language " +
      "model; is there without work; or is away",
  }),
  quiet_minutes: z.int().nullable().openapi({
    description: "How long an agent that works has not called; null for any other",
  }),
  messages_per_minute: z.int().openapi({
    description: "Messages that it sent within the last minute, over IRC, HTTP or MCP",
  }),
  rate_limit: rateLimitSchema.nullable().openapi({
    description: "Its own limit; null for the general limit",
  }),
}).openapi("Agent");

const credentialsSchema = z.object({
  nick: z.string(),
  credentials: z.object({
    nick: z.string(),
    passphrase: z.string().openapi({ description: "Shown only here" }),
  }),
  server: z.string().openapi({ example: "irc://127.0.0.1:6667" }),
}).openapi("Registration");

const params = z.object({ nick: z.string() });

const listAgents = route("GET /v1/agents", {
  summary: "List agents, including revoked ones: all, or a page",
  request: {
    query: z.object({
      after: z.string().min(1).optional().openapi({
        description: "Only agents whose nick sorts after this one: for the next page, the last " +
          "nick of the previous page",
        example: "coder-1",
      }),
      limit: wholeNumber("Most agents; all by default", 1, MAX_LIMIT),
    }),
  },
  responses: { 200: json(z.array(agentSchema), "The agents, by nick"), ...errors(400) },
});

const getAgent = route("GET /v1/agents/{nick}", {
  summary: "Show one agent",
  request: { params },
  responses: { 200: json(agentSchema, "The agent"), ...errors(404) },
});

const registerAgent = route("POST /v1/agents/register", {
  summary: "Register an agent",
  request: {
    body: jsonRequest(registrationSchema.meta({ id: "RegistrationRequest" }), {
      nick: "scout",
      channels: ["general"],
    }),
  },
  responses: {
    200: json(credentialsSchema, "The agent's IRC credentials"),
    ...errors(400, 409, 413, 503),
  },
});

const rotateAgent = route("POST /v1/agents/{nick}/rotate", {
  summary: "Replace an agent's passphrase, and end its tokens, IRC sessions and streams",
  request: {
    params,
    body: optionalJsonRequest(rotationSchema.meta({ id: "Rotation" }), { keep_tokens: true }),
  },
  responses: {
    200: json(credentialsSchema, "The agent's new IRC credentials"),
    ...errors(400, 404, 409, 413, 503),
  },
}, optionalBody());

const adoptAgent = route("POST /v1/agents/{nick}/adopt", {
  summary: "Make an existing IRC account an agent",
  request: {
    params,
    body: optionalJsonRequest(adoptionSchema.meta({ id: "AdoptionRequest" }), {
      type: "observer",
      channels: ["general"],
    }),
  },
  responses: { 200: json(agentSchema, "The agent"), ...errors(400, 404, 409, 413, 503) },
}, optionalBody());

const revokeAgent = route("POST /v1/agents/{nick}/revoke", {
  summary: "Revoke an agent: ends its credentials and keeps its record",
  request: { params },
  responses: { 204: { description: "Revoked" }, ...errors(404, 409, 503) },
});

const deleteAgent = route("DELETE /v1/agents/{nick}", {
  summary: "Remove an agent and free its nick",
  request: { params },
  responses: { 204: { description: "Removed" }, ...errors(404, 409, 503) },
});

const changeAgent = route("PATCH /v1/agents/{nick}", {
  summary: "Limit the rate of an agent's messages; null removes the limit",
  request: {
    params,
    body: jsonRequest(agentChangeSchema.meta({ id: "AgentChange" }), {
      rate_limit: { messages_per_second: 2, burst: 10 },
    }),
  },
  responses: { 200: json(agentSchema, "The agent"), ...errors(400, 404, 409, 413, 503) },
});

const pauseAgent = route("POST /v1/agents/{nick}/pause", {
  summary: "Pause an agent: refuses its messages until it is resumed, and keeps its sessions",
  request: {
    params,
    body: optionalJsonRequest(pauseSchema.meta({ id: "Pause" }), { reason: "wait for the review" }),
  },
  responses: { 204: { description: "Paused" }, ...errors(400, 404, 409, 413, 503) },
}, optionalBody());

const resumeAgent = route("POST /v1/agents/{nick}/resume", {
  summary: "Resume a paused agent",
  request: { params },
  responses: { 204: { description: "Resumed" }, ...errors(404, 409, 503) },
});

const slotLimits = z.object({
  claims: z.int(),
  workspaces: z.int(),
  reviews: z.int(),
  calls: z.int(),
});

const agentSlotsSchema = z.object({
  limits: slotLimits.openapi({ description: "The limits that hold" }),
  own: slotsSchema.required().openapi({
    description: "Its own limits; null if that of its type or the general one holds",
  }),
}).openapi("AgentSlots");

const showSlots = route("GET /v1/agents/{nick}/slots", {
  summary: "Show how many claims, workspaces, reviews and calls of models an agent may have",
  request: { params },
  responses: { 200: json(agentSlotsSchema, "The limits"), ...errors(404) },
});

const setSlots = route("PUT /v1/agents/{nick}/slots", {
  summary: "Set an agent's own limits of claims, workspaces, reviews and calls of models",
  request: {
    params,
    body: jsonRequest(slotsSchema.meta({ id: "SlotLimits" }), { claims: 2, calls: 4 }),
  },
  responses: { 200: json(agentSlotsSchema, "The limits"), ...errors(400, 404, 409, 413, 503) },
});

/** `/v1/agents`: the registry. */
export function agentRoutes(
  { agents, slots, attention }: {
    readonly agents: Agents;
    readonly slots: Pick<Slots, "of">;
    readonly attention: Pick<Attention, "states">;
  },
) {
  const described = async (nick: string) => {
    const agent = agents.get(nick, await attention.states());
    const { state = "away", quiet_minutes = null } = agent;
    return Object.assign(agent, { state, quiet_minutes });
  };
  const slotsOf = (nick: string) => {
    const agent = agents.roster.find(nick);
    if (agent === null) throw new NotFound(`There is no agent "${nick}", or it is revoked`);
    return slots.of(agent.id);
  };
  return newRoutes()
    .answer(listAgents, async ({ query }) => {
      const doing = await attention.states();
      return textAnswer(await agents.listAsJson(query, doing));
    })
    .openapi(showSlots, (context) => context.json(slotsOf(context.req.valid("param").nick), 200))
    .openapi(setSlots, async (context) => {
      const { nick } = context.req.valid("param");
      await agents.speechControls.setSlots(nick, context.req.valid("json"), callerOf(context));
      return context.json(slotsOf(nick), 200);
    })
    .openapi(getAgent, async (context) => {
      const { nick } = context.req.valid("param");
      return context.json(await described(nick), 200);
    })
    .openapi(registerAgent, async (context) => {
      const registration = await agents.register(context.req.valid("json"), callerOf(context));
      return context.json(registration, 200);
    })
    .openapi(rotateAgent, async (context) => {
      const { nick } = context.req.valid("param");
      const rotation = context.req.valid("json");
      return context.json(await agents.rotate(nick, callerOf(context), rotation), 200);
    })
    .openapi(adoptAgent, async (context) => {
      const { nick } = context.req.valid("param");
      const adoption = context.req.valid("json");
      await agents.adopt(nick, adoption, callerOf(context));
      return context.json(await described(nick), 200);
    })
    .openapi(revokeAgent, async (context) => {
      const { nick } = context.req.valid("param");
      await agents.revoke(nick, callerOf(context));
      return context.body(null, 204);
    })
    .openapi(deleteAgent, async (context) => {
      const { nick } = context.req.valid("param");
      await agents.delete(nick, callerOf(context));
      return context.body(null, 204);
    })
    .openapi(changeAgent, async (context) => {
      const { nick } = context.req.valid("param");
      const { rate_limit: rate } = context.req.valid("json");
      await agents.speechControls.setRate(nick, rate, callerOf(context));
      return context.json(await described(nick), 200);
    })
    .openapi(pauseAgent, async (context) => {
      const { nick } = context.req.valid("param");
      await agents.speechControls.pause(nick, context.req.valid("json"), callerOf(context));
      return context.body(null, 204);
    })
    .openapi(resumeAgent, async (context) => {
      const { nick } = context.req.valid("param");
      await agents.speechControls.resume(nick, callerOf(context));
      return context.body(null, 204);
    });
}
