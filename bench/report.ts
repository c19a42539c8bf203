import type { Figure } from "./scenarios/mod.ts";

/** What a scenario found. */
export interface Result {
  readonly scenario: string;
  readonly description: string;
  /** What was measured. */
  readonly server: string;
  readonly figures: readonly Figure[];
  /** Why there are no figures. */
  readonly failure?: string;
  /** Why it was not measured, where that is no failure. */
  readonly skipped?: string;
}

/** Figures from here on are written without decimals. */
const WHOLE_NUMBERS_FROM = 100;

const NAME_WIDTH = 44;
const VALUE_WIDTH = 12;
const UNIT_WIDTH = 4;

/** A result as lines of a table; `reference`: that of muster, to which others are compared. */
export function formatResult(result: Result, reference?: Result): string {
  const lines = [`${result.scenario} (${result.server}): ${result.description}`];
  if (result.failure !== undefined) lines.push(`  FAILED: ${result.failure}`);
  if (result.skipped !== undefined) lines.push(`  skipped: ${result.skipped}`);
  for (const figure of result.figures) {
    const value = formatNumber(figure.value).padStart(VALUE_WIDTH);
    const name = figure.name.padEnd(NAME_WIDTH);
    const remark = remarkOn(figure, reference);
    lines.push(`  ${name}${value} ${figure.unit.padEnd(UNIT_WIDTH)} ${remark}`.trimEnd());
  }
  return lines.join("\n");
}

/** Whether a figure holds what the project aims at, or how it compares. */
function remarkOn({ name, value, aim }: Figure, reference?: Result): string {
  const other = reference?.figures.find((figure) => figure.name === name);
  if (other !== undefined) return `${(value / other.value).toFixed(2)} × ${reference?.server}`;
  if (aim === undefined) return "";
  return `aim ≤ ${aim}: ${value <= aim ? "met" : "MISSED"}`;
}

function formatNumber(value: number): string {
  const digits = Math.abs(value) >= WHOLE_NUMBERS_FROM ? 0 : 2;
  return value.toLocaleString("en-GB", {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
}
