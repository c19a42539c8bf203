import { z } from "../extended_zod.ts";
import type { Services } from "../../services/daemon/mod.ts";
import type { Principal } from "../../services/identity/mod.ts";
import { type BudgetStanding, type BudgetView, viewOfBudget } from "../../services/ledger/mod.ts";
import { budgetSchema, USAGE_GROUPS } from "../../services/ledger/schemas.ts";
import { newRoutes } from "../context.ts";
import { callerOf } from "../caller.ts";
import { jsonArray } from "../json_text.ts";
import { route } from "../route.ts";
import { errors, json, jsonRequest, wholeNumber } from "../schemas.ts";

const MAX_CALLS = 500;
const USUAL_CALLS = 50;

const microUsd = (what: string) =>
  z.int().openapi({ description: `${what}, in millionths of a US dollar`, example: 12_500 });

const sums = {
  calls: z.int(),
  failed: z.int(),
  cancelled: z.int(),
  input_tokens: z.int(),
  output_tokens: z.int(),
  cached_input_tokens: z.int().openapi({
    description: "The part of the input that came from the cache of a provider",
  }),
  cost_micro_usd: microUsd("Cost of the calls whose cost is known"),
  unpriced_calls: z.int().openapi({
    description: "Calls whose cost is not known: no tokens were reported, or there is no price",
  }),
  estimated_tokens: z.int().openapi({
    description: "What budgets count in place of tokens that providers did not report",
  }),
  estimated_cost_micro_usd: microUsd("What budgets count in place of an unknown cost"),
  milliseconds: z.int().openapi({ description: "How long the calls took, added up" }),
};

const usageSchema = z.object({
  by: z.enum(USAGE_GROUPS),
  from: z.string(),
  to: z.string(),
  groups: z.array(
    z.object({
      name: z.string().openapi({
        description: "An agent, a backend, a model, a project, PROJECT/TICKET, or a date; " +
          "empty if the calls name none",
      }),
      ...sums,
    }),
  ),
  left_out: z.int().openapi({ description: "Groups beyond the 1000 most expensive ones" }),
  total: z.object(sums),
}).openapi("LlmUsage");

const callSchema = z.object({
  id: z.int(),
  agent: z.string().openapi({ description: "Who called: an agent, an admin, a bot, or operator" }),
  project: z.string().nullable(),
  ticket: z.string().nullable(),
  backend: z.string(),
  model: z.string().openapi({ description: "The model that the request named" }),
  response_model: z.string().nullable().openapi({ description: "The model that answered" }),
  streamed: z.boolean(),
  outcome: z.enum(["completed", "failed", "cancelled"]),
  input_tokens: z.int().nullable(),
  output_tokens: z.int().nullable(),
  cached_input_tokens: z.int().nullable(),
  cost_micro_usd: microUsd("Null if it is not known").nullable(),
  estimated_tokens: z.int(),
  ended_at: z.string(),
  milliseconds: z.int(),
}).openapi("LlmCall");

const budgetViewSchema = z.object({
  budget: z.string().openapi({ example: "agent.scout.day" }),
  scope: z.enum(["all", "type", "agent", "project"]),
  subject: z.string(),
  period: z.enum(["day", "month"]).openapi({ description: "Both begin at midnight, UTC" }),
  max_cost_micro_usd: microUsd("The limit; null for none").nullable(),
  max_tokens: z.int().nullable(),
  warn_percent: z.int(),
  spent_micro_usd: microUsd("Spent in this period"),
  spent_tokens: z.int(),
  state: z.enum(["open", "warned", "exceeded"]),
  ends_at: z.string().openapi({ description: "When the next period begins" }),
  set_by: z.string(),
  set_at: z.string(),
}).openapi("LlmBudget");

const date = (description: string) =>
  z.string().regex(/^[0-9]{4}-[0-9]{2}-[0-9]{2}$/, { error: "must be a date such as 2026-11-23" })
    .optional().openapi({ description, example: "2026-11-23" });

const name = (description: string) => z.string().min(1).optional().openapi({ description });

const readUsage = route("GET /v1/llm/usage", {
  summary: "What calls of models took, added up",
  description: "Days are those of UTC. An agent sees its own calls alone.",
  request: {
    query: z.object({
      by: z.enum(USAGE_GROUPS, { error: `must be one of ${USAGE_GROUPS.join(", ")}` })
        .default("agent"),
      from: date("The first day; by default, 30 days in all"),
      to: date("The last day; by default, today"),
      agent: name("Only the calls of this agent, admin or bot"),
      project: name("Only calls for tickets of this project"),
    }),
  },
  responses: { 200: json(usageSchema, "The most expensive first; days in order"), ...errors(400) },
});

const listCalls = route("GET /v1/llm/calls", {
  summary: "List calls of models, newest first",
  description: "A call keeps its row as long as `llm.ledger` says. An agent sees its own alone.",
  request: {
    query: z.object({
      agent: name("Only the calls of this agent, admin or bot"),
      before: wholeNumber("Only calls before the one of this id", 1, 999_999_999),
      limit: wholeNumber(`Most calls; ${USUAL_CALLS} by default`, 1, MAX_CALLS),
    }),
  },
  responses: { 200: json(z.array(callSchema), "The calls"), ...errors(400) },
});

const listBudgets = route("GET /v1/llm/budgets", {
  summary: "List the budgets of calls of models, and what is spent of them",
  description: "An agent sees those that bind its own calls.",
  responses: { 200: json(z.array(budgetViewSchema), "The budgets"), ...errors() },
});

const params = z.object({
  budget: z.string().openapi({
    example: "agent.scout.day",
    pattern: "^(?:all|(?:type|agent|project)\\.[^.]+)\\.(?:day|month)$",
  }),
});

const setBudget = route("PUT /v1/llm/budgets/{budget}", {
  summary: "Make or replace a budget: it warns, and then stops calls until its period ends",
  description: "Its name is `all`, `type.TYPE`, `agent.NICK` or `project.SLUG`, with `.day` or " +
    "`.month` at its end.",
  request: {
    params,
    body: jsonRequest(budgetSchema.meta({ id: "LlmBudgetRequest" }), {
      max_cost_micro_usd: 5_000_000,
    }),
  },
  responses: { 200: json(budgetViewSchema, "The budget"), ...errors(400, 404, 409, 413, 503) },
});

const deleteBudget = route("DELETE /v1/llm/budgets/{budget}", {
  summary: "Remove a budget",
  request: { params },
  responses: { 204: { description: "Removed" }, ...errors(400, 404, 503) },
});

/** `/v1/llm/usage`, `/v1/llm/calls` and `/v1/llm/budgets`. */
export function llmUsageRoutes(
  { accounting, accounts, agents }: Pick<Services, "accounting" | "accounts" | "agents">,
) {
  const { usage, calls, budgets, budgetNames } = accounting;
  const view = (standing: BudgetStanding): BudgetView =>
    viewOfBudget(standing, budgetNames.nameOf(standing.budget) ?? "");
  const keysOf = (caller: string): string[] => {
    const account = accounts.find(caller);
    return account === null ? [`bot:${caller}`, `operator:${caller}`] : [account.id];
  };
  return newRoutes()
    .openapi(readUsage, async (context) => {
      const caller = ownKey(context.get("principal"));
      const read = await usage.read({ ...context.req.valid("query"), caller });
      return context.json({ ...read, groups: [...read.groups] }, 200);
    })
    .openapi(listCalls, async (context) => {
      const { agent, before, limit = USUAL_CALLS } = context.req.valid("query");
      const own = ownKey(context.get("principal"));
      const asked = agent === undefined ? undefined : keysOf(agent);
      const callers = own === undefined ? asked : (asked ?? [own]).filter((key) => key === own);
      return context.json(await calls.list({ before, limit, callers }), 200);
    })
    .openapi(listBudgets, async (context) => {
      const { id, kind } = context.get("principal");
      const type = kind === "agent" && id !== null ? agents.roster.get(id)?.type : undefined;
      const standings = (await budgets.list()).filter(({ budget: { scope, subject } }) =>
        kind !== "agent" || scope === "all" || (scope === "type" && subject === type) ||
        (scope === "agent" && subject === id)
      );
      return jsonArray(context, standings, view);
    })
    .openapi(setBudget, async (context) => {
      const { budget } = context.req.valid("param");
      const set = await budgets.set(budget, context.req.valid("json"), callerOf(context));
      return context.json(view(set), 200);
    })
    .openapi(deleteBudget, async (context) => {
      await budgets.delete(context.req.valid("param").budget, callerOf(context));
      return context.body(null, 204);
    });
}

/** The key by which an agent's own calls are found; undefined for those who see all calls. */
function ownKey({ kind, id }: Principal): string | undefined {
  return kind === "agent" ? id ?? "" : undefined;
}
