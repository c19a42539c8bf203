import type { CheckState } from "./schemas.ts";

/** The text and the colour of a badge. */
export interface Badge {
  readonly message: "unknown" | "failing" | "pending" | "passing";
  readonly color: string;
}

const LABEL = "build";
const LABEL_COLOR = "#555";
const HEIGHT = 20;
const CHARACTER_WIDTH = 7;
const PADDING = 10;

/** The worst state of a check-in's checks, as one word. */
export function badgeOf(states: Iterable<CheckState>): Badge {
  const all = new Set(states);
  if (all.size === 0) return { message: "unknown", color: "#9ca3af" };
  if (all.has("error") || all.has("failure")) return { message: "failing", color: "#ef4444" };
  if (all.has("pending")) return { message: "pending", color: "#eab308" };
  return { message: "passing", color: "#22c55e" };
}

/** A badge as SVG. */
export function renderBadge({ message, color }: Badge): string {
  const [labelWidth, messageWidth] = [widthOf(LABEL), widthOf(message)];
  const width = labelWidth + messageWidth;
  const text = (words: string, center: number) => `<text x="${center}" y="14">${words}</text>`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${HEIGHT}" role="img"`,
    ` aria-label="${LABEL}: ${message}"><title>${LABEL}: ${message}</title>`,
    `<rect width="${labelWidth}" height="${HEIGHT}" fill="${LABEL_COLOR}"/>`,
    `<rect x="${labelWidth}" width="${messageWidth}" height="${HEIGHT}" fill="${color}"/>`,
    `<g fill="#fff" text-anchor="middle" font-family="Verdana,sans-serif" font-size="11">`,
    text(LABEL, labelWidth / 2),
    text(message, labelWidth + messageWidth / 2),
    "</g></svg>",
  ].join("");
}

function widthOf(words: string): number {
  return words.length * CHARACTER_WIDTH + PADDING;
}
