import { nameOfMark, TURNING } from "../elements/turning.ts";

const MARKS = new RegExp(TURNING, "g");

/** A tag, or a mark in the text between tags. */
const PIECES = new RegExp(`<[^<>]*>|${TURNING.source}`, "g");

/** The beginnings of elements that hold text as it is. */
const LITERAL = /^<(textarea|option|title|script|style)\b/;

/**
 * HTML in which people see the marks that turn text, by their numbers, and in which these turn
 * nothing. What a form sends back stays as it is.
 */
export function showTurning(html: string): string {
  if (!TURNING.test(html)) return html;
  const shown: string[] = [];
  let at = 0;
  for (const { 0: piece, index } of html.matchAll(PIECES)) {
    if (index < at) continue;
    const [, literal] = LITERAL.exec(piece) ?? [];
    const end = literal === undefined ? -1 : html.indexOf(`</${literal}>`, index);
    const whole = end < 0 ? piece : html.slice(index, end);
    shown.push(html.slice(at, index));
    if (literal === "title") shown.push(whole.replace(MARKS, "\ufffd"));
    // Without quotes: it stays text even where it would stand in an attribute.
    else shown.push(piece.length === 1 ? `<span class=turning>${nameOfMark(piece)}</span>` : whole);
    at = index + whole.length;
  }
  return shown.join("") + html.slice(at);
}
