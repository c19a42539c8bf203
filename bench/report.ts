import type { Figure, PeerValue } from "./scenarios/mod.ts";

/** The result of a scenario. */
export interface Result {
  readonly scenario: string;
  readonly description: string;
  /** The measured server. */
  readonly server: string;
  readonly figures: readonly Figure[];
  /** Why there are no figures. */
  readonly failure?: string;
  /** Why it was skipped, if that is no failure. */
  readonly skipped?: string;
}

/** Larger figures are written without decimals. */
const WHOLE_NUMBERS_FROM = 100;

const NAME_WIDTH = 44;
const VALUE_WIDTH = 12;
const UNIT_WIDTH = 4;

/** A result as lines of a table; `reference` is muster's result, with which others are compared. */
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

/** Whether a figure meets the project's aim, or how it compares. */
function remarkOn({ name, value, aim, peers = [] }: Figure, reference?: Result): string {
  const other = reference?.figures.find((figure) => figure.name === name);
  if (other !== undefined) return `${(value / other.value).toFixed(2)} × ${reference?.server}`;
  const aimed = aim === undefined ? [] : [`aim ≤ ${aim}: ${value <= aim ? "met" : "MISSED"}`];
  return [...aimed, ...peers.map((peer) => remarkOnPeer(peer, value))].join("; ");
}

/** A peer's value, and muster's value divided by it. */
function remarkOnPeer({ name, value: theirs, problem }: PeerValue, value: number): string {
  if (theirs === undefined) return `${name} failed: ${problem ?? "no value"}`;
  return `${name} ${formatNumber(theirs)}, ratio ${(value / theirs).toFixed(2)}`;
}

/**
 * The figures with peers as one table in Markdown: a peer's cell has its value and, in parentheses,
 * muster's value divided by it. Empty if no result has peers.
 */
export function formatPeerTable(results: readonly Result[]): string {
  const figures = results.flatMap(({ figures }) => figures)
    .filter(({ peers }) => peers !== undefined);
  if (figures.length === 0) return "";
  const names = [...new Set(figures.flatMap(({ peers = [] }) => peers.map(({ name }) => name)))];
  const rows = figures.map((figure) => [
    `${figure.name}, ${figure.unit}`,
    formatNumber(figure.value),
    ...names.map((name) => peerCell(figure, name)),
    String(figure.aim ?? ""),
  ]);
  const head = ["", "muster", ...names, "aim"];
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");
}

function peerCell({ value, peers = [] }: Figure, name: string): string {
  const peer = peers.find((peer) => peer.name === name);
  if (peer === undefined) return "";
  if (peer.value === undefined) return "failed";
  return `${formatNumber(peer.value)} (${(value / peer.value).toFixed(2)})`;
}

function formatNumber(value: number): string {
  const digits = Math.abs(value) >= WHOLE_NUMBERS_FROM ? 0 : 2;
  return value.toLocaleString("en-GB", {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
}
