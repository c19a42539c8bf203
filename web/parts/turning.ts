/** Marks that turn the text behind them: Unicode TR 36 and "Trojan Source" (CVE-2021-42574). */
const TURNING = /[\u202a-\u202e\u2066-\u2069]/g;

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
  if (html.search(TURNING) === -1) return html;
  return html.replace(PIECES, (piece) => {
    if (piece.startsWith("<title")) return piece.replace(TURNING, "\ufffd");
    // Without quotes: it stays text even where it would stand in an attribute.
    return piece.length === 1 ? `<span class=turning>${nameOf(piece)}</span>` : piece;
  });
}

function nameOf(mark: string): string {
  return `U+${mark.charCodeAt(0).toString(16).toUpperCase()}`;
}
