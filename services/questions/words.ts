/** Longest quotation of a question in a line. */
const MAX_QUOTED = 80;

const SPACE = /\s+/g;

/** A text of others as one line of bounded length. */
export function lineOf(text: string, maxLength: number): string {
  const line = text.replaceAll(SPACE, " ").trim();
  if (line.length <= maxLength) return line;
  return `${line.slice(0, maxLength - 1).toWellFormed().replace(/\ufffd$/, "").trimEnd()}…`;
}

/** The beginning of a question, in quotes. */
export function excerptOf(text: string): string {
  return `“${lineOf(text, MAX_QUOTED)}”`;
}
