/** A unified diff as rows: which line stands where, and which words of it changed. */
import { diffWordsWithSpace } from "diff";

/** A side of a diff. */
export type DiffSide = "old" | "new";

/** A piece of a line; a changed one differs from the other side. */
export interface DiffWord {
  readonly text: string;
  readonly isChanged: boolean;
}

/** A line of a diff. Its number is null on the side that does not have it. */
export interface DiffLine {
  readonly kind: "same" | "deleted" | "added";
  readonly old: number | null;
  readonly new: number | null;
  readonly words: readonly DiffWord[];
  /** Whether the file ends here without a line end. */
  readonly isUnended: boolean;
}

/** Neighbouring lines of a diff. */
export interface DiffHunk {
  /** As a unified diff writes it, such as `@@ -1,3 +1,4 @@`. */
  readonly head: string;
  readonly lines: readonly DiffLine[];
}

/** Longest line whose words are compared, in characters. */
const MAX_LINE = 400;
/** Most characters of the lines whose words are compared, on one page. */
const MAX_COMPARED = 60_000;
/** Most changes among the words of two lines; beyond that they have little in common. */
const MAX_CHANGES = 60;

const HEAD = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;

/**
 * Reads a unified diff of one file. Anything before the first hunk is its head. No word is marked; see
 * {@linkcode WordMarks}.
 *
 * @param start how many lines to skip; hunks without lines in the part are absent
 */
export function hunksOf(diff: string, start = 0, count = Infinity): DiffHunk[] {
  const hunks: { readonly head: string; readonly lines: DiffLine[] }[] = [];
  let [old, next, position] = [0, 0, 0];
  for (const row of rowsOf(diff)) {
    const head = row.startsWith("@@") ? HEAD.exec(row) : null;
    if (head !== null) {
      if (position >= start + count) break;
      [old, next] = [Number(head[1]), Number(head[2])];
      hunks.push({ head: row, lines: [] });
      continue;
    }
    const lines = hunks.at(-1)?.lines;
    if (lines === undefined) continue;
    if (row.startsWith("\\")) {
      const last = position <= start + count ? lines.pop() : undefined;
      if (last !== undefined) lines.push({ ...last, isUnended: true });
      continue;
    }
    const kind = row.startsWith("-") ? "deleted" : row.startsWith("+") ? "added" : "same";
    if (position >= start && position < start + count) {
      const words = [{ text: row.slice(1).replace(/\r$/, ""), isChanged: false }];
      const numbers = { old: kind === "added" ? null : old, new: kind === "deleted" ? null : next };
      lines.push({ kind, old: numbers.old, new: numbers.new, words, isUnended: false });
    }
    if (kind !== "added") old++;
    if (kind !== "deleted") next++;
    position++;
  }
  return start === 0 && count === Infinity ? hunks : hunks.filter(({ lines }) => lines.length > 0);
}

/** How many lines the hunks of a unified diff have. */
export function linesOf(diff: string): number {
  let [count, isInHunk] = [0, false];
  for (const row of rowsOf(diff)) {
    if (row.startsWith("@@") && HEAD.test(row)) isInHunk = true;
    else if (isInHunk && !row.startsWith("\\")) count++;
  }
  return count;
}

function* rowsOf(diff: string): Iterable<string> {
  for (let start = 0; start < diff.length;) {
    const feed = diff.indexOf("\n", start);
    const end = feed < 0 ? diff.length : feed;
    yield diff.slice(start, end);
    start = end + 1;
  }
}

/** Marks the words that differ, in as many lines as one page may compare. */
export class WordMarks {
  #left = MAX_COMPARED;

  mark({ head, lines }: DiffHunk): DiffHunk {
    return { head, lines: withWords(lines, (before, after) => this.#compare(before, after)) };
  }

  #compare(before: string, after: string): Record<DiffSide, DiffWord[]> | null {
    const length = before.length + after.length;
    if (length > this.#left) return null;
    this.#left -= length;
    return compareWords(before, after);
  }
}

/** Compares deleted lines with the added ones that follow them. */
function withWords(lines: readonly DiffLine[], compare: typeof compareWords): DiffLine[] {
  const words = new Map<DiffLine, DiffWord[]>();
  for (let start = 0; start < lines.length; start++) {
    if (lines[start]?.kind !== "deleted") continue;
    let middle = start;
    while (lines[middle]?.kind === "deleted") middle++;
    let end = middle;
    while (lines[end]?.kind === "added") end++;
    for (let i = 0; i < Math.min(middle - start, end - middle); i++) {
      const [before, after] = [lines[start + i], lines[middle + i]];
      if (before === undefined || after === undefined) break;
      const compared = compare(textOf(before), textOf(after));
      if (compared === null) continue;
      words.set(before, compared.old);
      words.set(after, compared.new);
    }
    start = Math.max(start, end - 1);
  }
  return lines.map((line) => ({ ...line, words: words.get(line) ?? line.words }));
}

function textOf({ words }: DiffLine): string {
  return words.map(({ text }) => text).join("");
}

/** The words of two lines; null if the lines are long or have little in common. */
function compareWords(before: string, after: string): Record<DiffSide, DiffWord[]> | null {
  if (Math.max(before.length, after.length) > MAX_LINE) return null;
  const changes = diffWordsWithSpace(before, after, { maxEditLength: MAX_CHANGES });
  if (changes === undefined) return null;
  const common = changes.filter(({ added, removed }) => !added && !removed)
    .reduce((sum, { value }) => sum + value.trim().length, 0);
  if (common * 3 < Math.min(before.trim().length, after.trim().length)) return null;
  const side = (left: "added" | "removed", own: "added" | "removed") =>
    changes.filter((change) => !change[left])
      .map((change) => ({ text: change.value, isChanged: change[own] }));
  return { old: side("added", "removed"), new: side("removed", "added") };
}

/** Two lines that stand beside each other; null for a side without one. */
export interface DiffPair {
  readonly old: DiffLine | null;
  readonly new: DiffLine | null;
}

/** The lines of a hunk side by side: each deleted line beside the added one in its place. */
export function pairsOf(lines: readonly DiffLine[]): DiffPair[] {
  const pairs: DiffPair[] = [];
  let [deleted, added]: [DiffLine[], DiffLine[]] = [[], []];
  const flush = () => {
    for (let i = 0; i < Math.max(deleted.length, added.length); i++) {
      pairs.push({ old: deleted[i] ?? null, new: added[i] ?? null });
    }
    [deleted, added] = [[], []];
  };
  for (const line of lines) {
    if (line.kind === "deleted") deleted.push(line);
    else if (line.kind === "added") added.push(line);
    else {
      flush();
      pairs.push({ old: line, new: line });
    }
  }
  flush();
  return pairs;
}
