/** Longest part of a text that a page shows, in characters. */
const MAX_PART = 100_000;

/** A part of a text that is too long for one page. */
export interface TextPart {
  readonly text: string;
  /** From 1. */
  readonly part: number;
  readonly parts: number;
}

/**
 * The part of a long text that a page shows. Parts end before a heading or an empty line, where there
 * is one, so that most markup stays whole.
 *
 * @param number from 1; beyond the end, the last part
 */
export function textPart(text: string, number: number): TextPart {
  const starts = [0];
  for (let start = 0; start + MAX_PART < text.length;) {
    start = endOf(text, start);
    starts.push(start);
  }
  const part = Math.min(number, starts.length);
  return { text: text.slice(starts[part - 1], starts[part]), part, parts: starts.length };
}

/** What a part ends before, the best first; the second half of a part is looked through. */
const ENDS = ["\n# ", "\n## ", "\n\n", "\n"];

function endOf(text: string, start: number): number {
  const [least, most] = [start + MAX_PART / 2, start + MAX_PART];
  const half = text.slice(least, most);
  for (const end of ENDS) {
    const at = half.lastIndexOf(end);
    if (at >= 0) return least + at + 1;
  }
  return most;
}
