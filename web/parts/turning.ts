import { nameOfMark, TURNING } from "../elements/turning.ts";

const MARKS = new RegExp(TURNING, "g");

/** What holds text as it is, a tag, or a mark in the text between tags. */
const PIECES = new RegExp(
  `<(textarea|option|title|script|style)\\b.*?</\\1>|<[^>]*>|${TURNING.source}`,
  "gs",
);

/**
 * HTML in which people see the marks that turn text, by their numbers, and in which these turn
 * nothing. What a form sends back stays as it is.
 */
export function showTurning(html: string): string {
  if (!TURNING.test(html)) return html;
  return html.replace(PIECES, (piece) => {
    if (piece.startsWith("<title")) return piece.replace(MARKS, "\ufffd");
    // Without quotes: it stays text even where it would stand in an attribute.
    return piece.length === 1 ? `<span class=turning>${nameOfMark(piece)}</span>` : piece;
  });
}
