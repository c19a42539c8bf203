/**
 * What calls of language models took: a row for each, sums by day, prices, and budgets that warn and
 * then stop.
 */
export { dollars } from "./budget_limits.ts";
export { type BudgetView, viewOfBudget } from "./budget_view.ts";
export { type BudgetName, idOf } from "./budget_names.ts";
export type { Budget, BudgetStanding } from "./budgets.ts";
export type { CallPage, LedgerCall } from "./calls.ts";
export { type Admission, type Forecast, Ledger } from "./ledger.ts";
export { type LedgerServices, type LedgerServicesOptions, openLedger } from "./open.ts";
export type { FinishedCall, LedgerEntry, Spender, Work } from "./records.ts";
export type { BudgetRequest, UsageGroup } from "./schemas.ts";
export type { Usage, UsageQuery, UsageSums } from "./usage.ts";
