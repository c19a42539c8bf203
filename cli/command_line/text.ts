/** Text in the cells of a terminal. */

/** Marks that take no cell: they combine with the character before, or are invisible. */
const ZERO_WIDTH = /^[\p{Mn}\p{Me}\p{Cf}]$/u;

/** East Asian wide and fullwidth characters, and emoji: two cells each. */
const WIDE =
  /^[\u{1100}-\u{115f}\u{2e80}-\u{303e}\u{3041}-\u{a4cf}\u{a960}-\u{a97c}\u{ac00}-\u{d7a3}\u{f900}-\u{faff}\u{fe30}-\u{fe6f}\u{ff00}-\u{ff60}\u{ffe0}-\u{ffe6}\u{1f200}-\u{1f2ff}\u{20000}-\u{3fffd}\p{Emoji_Presentation}]$/u;

/** Text in which every character takes one cell. */
const PLAIN = /^[\x20-\x7e]*$/;

/**
 * The width of a text in terminal cells.
 *
 * @see {@link https://www.unicode.org/reports/tr11/} East Asian width
 */
export function widthOf(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const { segment } of new Intl.Segmenter().segment(text)) width += clusterWidth(segment);
  return width;
}

/** A grapheme is as wide as its widest part. */
function clusterWidth(cluster: string): number {
  let width = 0;
  for (const character of cluster) {
    if (character === "\u{fe0f}") width = 2;
    else if (WIDE.test(character)) width = 2;
    else if (!ZERO_WIDTH.test(character)) width = Math.max(width, 1);
  }
  return width;
}

/** Truncates a text to a number of cells, with an ellipsis. */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let result = "";
  let used = 0;
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    used += clusterWidth(segment);
    if (used > width - 1) break;
    result += segment;
  }
  return `${result.trimEnd()}…`;
}

/** Pads a text with spaces to a number of cells. */
export function pad(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - widthOf(text)));
}

/** Wraps a text between words to lines of a number of cells. */
export function wrap(text: string, width: number): string {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && widthOf(line) + 1 + widthOf(word) > width) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line].join("\n");
}
