import { z } from "zod";
import type { Agents } from "../../people/agents/mod.ts";
import { Conflict, NotFound, Unavailable } from "../../kernel/errors.ts";
import type { AccountDirectory, Principal } from "../../people/identity/mod.ts";
import { SerializedJson, serverOperation } from "../../people/identity/server_operation.ts";
import { writeArray } from "../../kernel/pieces.ts";
import { wholeNumber } from "../../kernel/validation/schemas.ts";
import { type BudgetStanding, type BudgetView, type LedgerServices, viewOfBudget } from "./mod.ts";
import { budgetSchema, USAGE_GROUPS } from "./schemas.ts";

/** What the operations on the ledger call. */
interface UsageServices {
  readonly accounting: LedgerServices;
  readonly accounts: Pick<AccountDirectory, "find">;
  readonly agents: Pick<Agents, "roster">;
}

const MAX_CALLS = 500;
const USUAL_CALLS = 50;

const microUsd = (what: string) =>
  z.int().meta({ description: `${what}, in millionths of a US dollar`, example: 12_500 });

const sums = {
  calls: z.int(),
  failed: z.int(),
  cancelled: z.int(),
  input_tokens: z.int(),
  output_tokens: z.int(),
  cached_input_tokens: z.int().meta({
    description: "The part of the input that came from the cache of a provider",
  }),
  cache_write_input_tokens: z.int().meta({
    description: "The part of the input that a provider wrote to its cache",
  }),
  cost_micro_usd: microUsd("Cost of the calls whose cost is known"),
  unpriced_calls: z.int().meta({
    description: "Calls whose cost is not known: no tokens were reported, or there is no price",
  }),
  estimated_tokens: z.int().meta({
    description: "What budgets count in place of tokens that providers did not report",
  }),
  estimated_cost_micro_usd: microUsd("What budgets count in place of an unknown cost"),
  milliseconds: z.int().meta({ description: "How long the calls took, added up" }),
};

const usageSchema = z.object({
  by: z.enum(USAGE_GROUPS),
  from: z.string(),
  to: z.string(),
  groups: z.array(
    z.object({
      name: z.string().meta({
        description: "An agent, a backend, a model, a project, PROJECT/TICKET, or a date; " +
          "empty if the calls name none",
      }),
      ...sums,
    }),
  ).readonly(),
  left_out: z.int().meta({ description: "Groups beyond the 1000 most expensive ones" }),
  total: z.object(sums),
}).meta({ id: "LlmUsage" });

const callSchema = z.object({
  id: z.int(),
  source: z.enum(["gateway", "reported"]).meta({
    description: "Whether the gateway counted it, or a client reported it",
  }),
  agent: z.string().meta({ description: "Who called: an agent, an admin, a bot, or operator" }),
  project: z.string().nullable(),
  ticket: z.string().nullable(),
  backend: z.string().meta({
    description: "`reported:CLIENT` for a call that a client reported",
  }),
  model: z.string().meta({ description: "The model that the request named" }),
  response_model: z.string().nullable().meta({ description: "The model that answered" }),
  streamed: z.boolean(),
  outcome: z.enum(["completed", "failed", "cancelled"]),
  input_tokens: z.int().nullable(),
  output_tokens: z.int().nullable(),
  cached_input_tokens: z.int().nullable(),
  cache_write_input_tokens: z.int().nullable(),
  cost_micro_usd: microUsd("Null if it is not known").nullable(),
  estimated_tokens: z.int(),
  ended_at: z.string(),
  milliseconds: z.int(),
}).meta({ id: "LlmCall" });

const budgetViewSchema = z.object({
  budget: z.string().meta({ example: "agent.scout.day" }),
  scope: z.enum(["all", "type", "agent", "project"]),
  subject: z.string(),
  period: z.enum(["day", "month"]).meta({ description: "Both begin at midnight, UTC" }),
  max_cost_micro_usd: microUsd("The limit; null for none").nullable(),
  max_tokens: z.int().nullable(),
  warn_percent: z.int(),
  spent_micro_usd: microUsd("Spent in this period"),
  spent_tokens: z.int(),
  state: z.enum(["open", "warned", "exceeded"]),
  ends_at: z.string().meta({ description: "When the next period begins" }),
  set_by: z.string(),
  set_at: z.string(),
}).meta({ id: "LlmBudget" });

const date = (description: string) =>
  z.string().regex(/^[0-9]{4}-[0-9]{2}-[0-9]{2}$/, { error: "must be a date such as 2026-11-23" })
    .optional().meta({ description, example: "2026-11-23" });

const name = (description: string) => z.string().min(1).optional().meta({ description });

const byBudget = z.object({
  budget: z.string().meta({
    example: "agent.scout.day",
    pattern: "^(?:all|(?:type|agent|project)\\.[^.]+)\\.(?:day|month)$",
  }),
});

export const getModelUsage = serverOperation(
  {
    http: "GET /v1/llm/usage",
    on: "coordination",
    summary: "What calls of models took, added up",
    description: "Days are those of UTC. An agent sees its own calls alone.",
    input: z.object({
      by: z.enum(USAGE_GROUPS, { error: `must be one of ${USAGE_GROUPS.join(", ")}` })
        .default("agent"),
      from: date("The first day; by default, 30 days in all"),
      to: date("The last day; by default, today"),
      agent: name("Only the calls of this agent, admin or bot"),
      project: name("Only calls for tickets of this project"),
    }),
    ok: { schema: usageSchema, description: "The most expensive first; days in order" },
  },
  ({ accounting }: UsageServices, asked, { caller }) =>
    accounting.usage.read({ ...asked, caller: ownKey(caller.principal) }),
);

export const listModelCalls = serverOperation({
  http: "GET /v1/llm/calls",
  on: "coordination",
  summary: "List calls of models, newest first",
  description: "A call keeps its row as long as `llm.ledger` says. An agent sees its own alone.",
  input: z.object({
    agent: name("Only the calls of this agent, admin or bot"),
    before: wholeNumber("Only calls before the one of this id", 1, 999_999_999),
    limit: wholeNumber(`Most calls; ${USUAL_CALLS} by default`, 1, MAX_CALLS),
  }),
  ok: { schema: z.array(callSchema), description: "The calls" },
  cli: {
    at: "llm calls",
    about: "list calls of models, the newest first",
    options: {
      agent: { flags: "--agent <name>" },
      before: { flags: "--before <id>" },
      limit: { flags: "-n, --lines <count>", about: "most calls to print", default: 20 },
    },
    columns: [
      "ENDED: {ended_at:second}",
      "WHO: {agent}",
      "TICKET: [{project}/{ticket:short}]",
      "MODEL: {backend}/{model}",
      "outcome",
      'IN: {input_tokens|"?"}',
      'OUT: {output_tokens|"?"}',
      'US DOLLARS: {cost_micro_usd:dollars|"?"}',
      "TIME: {milliseconds} ms",
    ],
  },
}, ({ accounting, accounts }: UsageServices, asked, { caller }) => {
  const { agent, before, limit = USUAL_CALLS } = asked;
  const own = ownKey(caller.principal);
  const named = agent === undefined ? undefined : keysOf(agent, accounts);
  const callers = own === undefined ? named : (named ?? [own]).filter((key) => key === own);
  return accounting.calls.list({ before, limit, callers });
});

export const listModelBudgets = serverOperation({
  http: "GET /v1/llm/budgets",
  on: "coordination",
  summary: "List the budgets of calls of models, and what is spent of them",
  description: "An agent sees those that bind its own calls.",
  input: z.object({}),
  ok: { schema: z.array(budgetViewSchema), description: "The budgets" },
  cli: {
    at: "llm budget list",
    about: "list the budgets, and what is spent of them",
    columns: [
      "budget",
      "US DOLLARS: {spent_micro_usd:dollars}[ of {max_cost_micro_usd:dollars}]",
      "TOKENS: {spent_tokens}[ of {max_tokens}]",
      "WARNS AT: {warn_percent}%",
      "state",
    ],
  },
}, async (services: UsageServices, _input, { caller: { principal: { id, kind } } }) => {
  const { accounting: { budgets }, agents } = services;
  const type = kind === "agent" && id !== null ? agents.roster.get(id)?.type : undefined;
  const standings = (await budgets.list()).filter(({ budget: { scope, subject } }) =>
    kind !== "agent" || scope === "all" || (scope === "type" && subject === type) ||
    (scope === "agent" && subject === id)
  );
  const write = (standing: BudgetStanding) => JSON.stringify(viewOf(services, standing));
  return new SerializedJson(await writeArray(standings, write));
});

export const setModelBudget = serverOperation(
  {
    http: "PUT /v1/llm/budgets/{budget}",
    on: "server",
    whileFull: true,
    summary: "Make or replace a budget: it warns, and then stops calls until its period ends",
    description: "Its name is `all`, `type.TYPE`, `agent.NICK` or `project.SLUG`, with `.day` or " +
      "`.month` at its end.",
    input: byBudget.extend({ limits: budgetSchema.meta({ id: "LlmBudgetRequest" }) }),
    bodyField: "limits",
    example: { max_cost_micro_usd: 5_000_000 },
    ok: { schema: budgetViewSchema, description: "The budget" },
    refusals: [{ error: NotFound }, { error: Conflict }, { error: Unavailable }],
  },
  async (services: UsageServices, { budget, limits }, { caller }) =>
    viewOf(services, await services.accounting.budgets.set(budget, limits, caller)),
);

export const deleteModelBudget = serverOperation(
  {
    http: "DELETE /v1/llm/budgets/{budget}",
    on: "server",
    summary: "Remove a budget",
    input: byBudget,
    done: "Removed",
    refusals: [{ error: NotFound }],
    cli: { at: "llm budget remove <budget>", about: "remove a budget" },
  },
  ({ accounting }: UsageServices, { budget }, { caller }) =>
    accounting.budgets.delete(budget, caller),
);

function viewOf({ accounting }: UsageServices, standing: BudgetStanding): BudgetView {
  return viewOfBudget(standing, accounting.budgetNames.nameOf(standing.budget) ?? "");
}

/** The keys by which the calls of an agent, an admin or a bot are found. */
function keysOf(name: string, accounts: UsageServices["accounts"]): string[] {
  const account = accounts.find(name);
  return account === null ? [`bot:${name}`, `operator:${name}`] : [account.id];
}

/** The key by which an agent's own calls are found; undefined for those who see all calls. */
function ownKey({ kind, id }: Principal): string | undefined {
  return kind === "agent" ? id ?? "" : undefined;
}
