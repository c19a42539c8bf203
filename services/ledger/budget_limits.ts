import type { Amount } from "./records.ts";

/** The limits of a budget; null for no limit. */
export interface BudgetLimits {
  /** In millionths of a US dollar. */
  readonly maxCost: number | null;
  readonly maxTokens: number | null;
}

/** Whether an amount reaches a percentage of one of the limits. */
export function isOver(
  { maxCost, maxTokens }: BudgetLimits,
  { cost, tokens }: Amount,
  percent: number,
): boolean {
  const reaches = (amount: number, limit: number | null) =>
    limit !== null && amount * 100 >= limit * percent;
  return reaches(cost, maxCost) || reaches(tokens, maxTokens);
}

/** What is spent of the limits, in words: `9.80 of 10.00 US dollars`. */
export function exhaustion({ maxCost, maxTokens }: BudgetLimits, { cost, tokens }: Amount): string {
  return [
    ...maxCost === null ? [] : [`${dollars(cost)} of ${dollars(maxCost)} US dollars`],
    ...maxTokens === null ? [] : [`${tokens} of ${maxTokens} tokens`],
  ].join(" and ");
}

/** Millionths of a US dollar as dollars, with two digits after the point, or as many as it needs. */
export function dollars(millionths: number): string {
  const text = (millionths / 1_000_000).toFixed(6);
  return text.replace(/0{1,4}$/, "");
}
