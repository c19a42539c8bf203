import { idOf } from "./budget_names.ts";
import type { BudgetStanding } from "./budgets.ts";

/** A budget, as the API shows it. */
export interface BudgetView {
  readonly budget: string;
  readonly scope: "all" | "type" | "agent" | "project";
  /** The type, the nick or the slug; empty for `all`. */
  readonly subject: string;
  readonly period: "day" | "month";
  readonly max_cost_micro_usd: number | null;
  readonly max_tokens: number | null;
  readonly warn_percent: number;
  readonly spent_micro_usd: number;
  readonly spent_tokens: number;
  readonly state: "open" | "warned" | "exceeded";
  readonly ends_at: string;
  readonly set_by: string;
  readonly set_at: string;
}

/** @param name the name of its subject */
export function viewOfBudget(
  { budget, spent, state, endsAt }: BudgetStanding,
  name: string,
): BudgetView {
  return {
    budget: idOf(budget, name),
    scope: budget.scope,
    subject: name,
    period: budget.period,
    max_cost_micro_usd: budget.maxCost,
    max_tokens: budget.maxTokens,
    warn_percent: budget.warnPercent,
    spent_micro_usd: spent.cost,
    spent_tokens: spent.tokens,
    state,
    ends_at: new Date(endsAt).toISOString(),
    set_by: budget.setBy,
    set_at: new Date(budget.setAt).toISOString(),
  };
}
