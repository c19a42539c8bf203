/**
 * What calls of language models took: a row for each, sums by day, prices, and budgets that warn and
 * then stop.
 */
export {
  type Budget,
  type BudgetName,
  type BudgetStanding,
  type BudgetView,
  idOf,
  viewOfBudget,
} from "./budgets.ts";
export type { CallPage, LedgerCall, Usage, UsageQuery, UsageSums } from "./usage.ts";
export { type Admission, type Forecast, Ledger } from "./ledger.ts";
export { type Export, readLogs, readSpans } from "./otlp.ts";
export { type LedgerServices, type LedgerServicesOptions, openLedger } from "./open.ts";
export type { FinishedCall, LedgerEntry, Spender, Work } from "./records.ts";
export type { BudgetRequest, UsageGroup } from "./schemas.ts";
