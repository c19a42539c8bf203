import { z } from "zod";
import { Conflict, NotFound, Unavailable } from "../../kernel/errors.ts";
import { SerializedJson, serverOperation } from "../identity/server_operation.ts";
import { wholeNumber } from "../../kernel/validation/schemas.ts";
import { WORK_STATES } from "../work_states.ts";
import type { Agents, DoingOf } from "./agents.ts";
import {
  adoptionSchema,
  agentChangeSchema,
  pauseSchema,
  rateLimitSchema,
  registrationSchema,
  rotationSchema,
  slotsSchema,
} from "./schemas.ts";
import type { Slots } from "./roster.ts";

/** What the operations on agents call. */
interface AgentServices {
  readonly agents: Agents;
  readonly slots: Pick<Slots, "of">;
  readonly attention: { states(): Promise<DoingOf> };
}

/** Most agents of one page. */
const MAX_LIMIT = 1000;

const agentSchema = z.object({
  nick: z.string(),
  type: z.string(),
  channels: z.array(z.string()).meta({ description: "Names with #" }),
  revoked: z.boolean(),
  paused: z.boolean().meta({
    description: "Whether every message is refused until the agent is resumed",
  }),
  pause_reason: z.string().nullable(),
  created_at: z.iso.datetime(),
  last_seen: z.iso.datetime().nullable(),
  online: z.boolean().meta({
    description: "Whether it has a live IRC session, or was active within two minutes",
  }),
  state: z.enum(WORK_STATES).meta({
    description:
      "What it does: it is halted; waits for an answer or a verdict; works, that is, it " +
      "holds a claim, committed to a workspace within the last hour, or waits for a language " +
      "model; is there without work; or is away",
  }),
  quiet_minutes: z.int().nullable().meta({
    description: "How long an agent that works has not called; null for any other",
  }),
  messages_per_minute: z.int().meta({
    description: "Messages that it sent within the last minute, over IRC, HTTP or MCP",
  }),
  rate_limit: rateLimitSchema.nullable().meta({
    description: "Its own limit; null for the general limit",
  }),
}).meta({ id: "Agent" });

const credentialsSchema = z.object({
  nick: z.string(),
  credentials: z.object({
    nick: z.string(),
    passphrase: z.string().meta({ description: "Shown only here" }),
  }),
  server: z.string().meta({ example: "irc://127.0.0.1:6667" }),
}).meta({ id: "Registration" });

const slotLimits = z.object({
  claims: z.int(),
  workspaces: z.int(),
  reviews: z.int(),
  calls: z.int(),
});

const agentSlotsSchema = z.object({
  limits: slotLimits.meta({ description: "The limits that hold" }),
  own: slotsSchema.required().meta({
    description: "Its own limits; null if that of its type or the general one holds",
  }),
}).meta({ id: "AgentSlots" });

const byNick = z.object({ nick: z.string() });

const theAgent = { schema: agentSchema, description: "The agent" };
const theLimits = { schema: agentSlotsSchema, description: "The limits" };
const unknown = { error: NotFound };
const contradicts = { error: Conflict };
const isAway = { error: Unavailable };

export const listAgents = serverOperation({
  http: "GET /v1/agents",
  on: "coordination",
  summary: "List agents, including revoked ones: all, or a page",
  input: z.object({
    after: z.string().min(1).optional().meta({
      description: "Only agents whose nick sorts after this one: for the next page, the last " +
        "nick of the previous page",
      example: "coder-1",
    }),
    limit: wholeNumber("Most agents; all by default", 1, MAX_LIMIT),
  }),
  ok: { schema: z.array(agentSchema), description: "The agents, by nick" },
}, async ({ agents, attention }: AgentServices, page) => {
  const doing = await attention.states();
  return new SerializedJson(await agents.listAsJson(page, doing));
});

export const getAgent = serverOperation({
  http: "GET /v1/agents/{nick}",
  on: "coordination",
  summary: "Show one agent",
  input: byNick,
  ok: theAgent,
  refusals: [unknown],
}, (services: AgentServices, { nick }) => described(services, nick));

export const registerAgent = serverOperation({
  http: "POST /v1/agents/register",
  on: "server",
  summary: "Register an agent",
  input: registrationSchema,
  bodyName: "RegistrationRequest",
  example: { nick: "scout", channels: ["general"] },
  ok: { schema: credentialsSchema, description: "The agent's IRC credentials" },
  refusals: [contradicts],
}, (
  { agents }: { readonly agents: Pick<Agents, "register"> },
  request,
  { caller },
) => agents.register(request, caller));

export const rotateAgent = serverOperation(
  {
    http: "POST /v1/agents/{nick}/rotate",
    on: "server",
    whileFull: true,
    summary: "Replace an agent's passphrase, and end its tokens, IRC sessions and streams",
    input: byNick.extend(rotationSchema.shape),
    bodyName: "Rotation",
    example: { keep_tokens: true },
    hasOptionalBody: true,
    ok: { schema: credentialsSchema, description: "The agent's new IRC credentials" },
    refusals: [unknown, contradicts, isAway],
  },
  ({ agents }: AgentServices, { nick, ...rotation }, { caller }) =>
    agents.rotate(nick, caller, rotation),
);

export const adoptAgent = serverOperation({
  http: "POST /v1/agents/{nick}/adopt",
  on: "server",
  summary: "Make an existing IRC account an agent",
  input: byNick.extend(adoptionSchema.shape),
  bodyName: "AdoptionRequest",
  example: { type: "observer", channels: ["general"] },
  hasOptionalBody: true,
  ok: theAgent,
  refusals: [unknown, contradicts],
  cli: {
    at: "agent adopt <account:nick>",
    about: "make an IRC account an agent; it keeps its password",
    options: {
      type: { flags: "--type <type>", about: "the agent's type (default: worker)" },
      channels: { flags: "--channels <names>", about: "its channels, separated by commas" },
    },
  },
}, async (services: AgentServices, { nick, ...adoption }, { caller }) => {
  await services.agents.adopt(nick, adoption, caller);
  return await described(services, nick);
});

export const revokeAgent = serverOperation({
  http: "POST /v1/agents/{nick}/revoke",
  on: "server",
  whileFull: true,
  summary: "Revoke an agent: ends its credentials and keeps its record",
  input: byNick,
  done: "Revoked",
  refusals: [unknown, contradicts, isAway],
}, ({ agents }: AgentServices, { nick }, { caller }) => agents.revoke(nick, caller));

export const deleteAgent = serverOperation({
  http: "DELETE /v1/agents/{nick}",
  on: "server",
  summary: "Remove an agent and free its nick",
  input: byNick,
  done: "Removed",
  refusals: [unknown, contradicts],
  cli: {
    at: "agent remove <nick>",
    about: "remove an agent; its nick is free again",
    aliases: ["delete"],
  },
}, ({ agents }: AgentServices, { nick }, { caller }) => agents.delete(nick, caller));

export const changeAgent = serverOperation({
  http: "PATCH /v1/agents/{nick}",
  on: "server",
  summary: "Limit the rate of an agent's messages; null removes the limit",
  input: byNick.extend(agentChangeSchema.shape),
  bodyName: "AgentChange",
  example: { rate_limit: { messages_per_second: 2, burst: 10 } },
  ok: theAgent,
  refusals: [unknown, contradicts],
}, async (services: AgentServices, { nick, rate_limit: rate }, { caller }) => {
  await services.agents.speechControls.setRate(nick, rate, caller);
  return await described(services, nick);
});

export const pauseAgent = serverOperation(
  {
    http: "POST /v1/agents/{nick}/pause",
    on: "server",
    whileFull: true,
    summary: "Pause an agent: refuses its messages until it is resumed, and keeps its sessions",
    input: byNick.extend(pauseSchema.shape),
    bodyName: "PauseRequest",
    example: { reason: "wait for the review" },
    hasOptionalBody: true,
    done: "Paused",
    refusals: [unknown, contradicts, isAway],
    cli: {
      at: "agent pause <nick>",
      about: "refuse an agent's messages until it is resumed; its sessions stay",
      options: { reason: "the reason to show to the agent" },
      examples: [
        { line: 'agent pause scout --reason "Out of budget"', purpose: "Refuse its messages" },
      ],
    },
  },
  ({ agents }: AgentServices, { nick, ...request }, { caller }) =>
    agents.speechControls.pause(nick, request, caller),
);

export const resumeAgent = serverOperation({
  http: "POST /v1/agents/{nick}/resume",
  on: "server",
  whileFull: true,
  summary: "Resume a paused agent",
  input: byNick,
  done: "Resumed",
  refusals: [unknown, contradicts, isAway],
  cli: { at: "agent resume <nick>", about: "resume a paused agent" },
}, ({ agents }: AgentServices, { nick }, { caller }) => agents.speechControls.resume(nick, caller));

export const getAgentSlots = serverOperation({
  http: "GET /v1/agents/{nick}/slots",
  on: "coordination",
  summary: "Show how many claims, workspaces, reviews and calls of models an agent may have",
  input: byNick,
  ok: theLimits,
  refusals: [unknown],
}, (services: AgentServices, { nick }) => slotsOf(services, nick));

export const setAgentSlots = serverOperation({
  http: "PUT /v1/agents/{nick}/slots",
  on: "server",
  summary: "Set an agent's own limits of claims, workspaces, reviews and calls of models",
  input: byNick.extend(slotsSchema.shape),
  bodyName: "SlotLimits",
  example: { claims: 2, calls: 4 },
  ok: theLimits,
  refusals: [unknown, contradicts],
}, async (services: AgentServices, { nick, ...limits }, { caller }) => {
  await services.agents.speechControls.setSlots(nick, limits, caller);
  return slotsOf(services, nick);
});

async function described({ agents, attention }: AgentServices, nick: string) {
  const agent = agents.get(nick, await attention.states());
  const { state = "away", quiet_minutes = null } = agent;
  return { ...agent, state, quiet_minutes };
}

function slotsOf({ agents, slots }: AgentServices, nick: string) {
  const agent = agents.roster.find(nick);
  if (agent === null) throw new NotFound(`There is no agent "${nick}", or it is revoked`);
  return slots.of(agent.id);
}
