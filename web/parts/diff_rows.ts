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

/** Longest line whose words are compared, and most pairs of lines, in one diff. */
const [MAX_LINE, MAX_PAIRS] = [400, 400];
/** Most changes among the words of two lines; beyond that they have little in common. */
const MAX_CHANGES = 60;

const HEAD = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;

/** A line while its hunk is read. */
interface RawLine {
  readonly kind: DiffLine["kind"];
  readonly old: number | null;
  readonly new: number | null;
  readonly text: string;
  isUnended: boolean;
}

/** Reads a unified diff of one file. Anything before the first hunk is its head. */
export function hunksOf(diff: string): DiffHunk[] {
  const hunks: { head: string; lines: RawLine[] }[] = [];
  let [old, next] = [0, 0];
  const rows = diff.endsWith("\n") ? diff.slice(0, -1).split("\n") : diff.split("\n");
  for (const row of rows) {
    const head = HEAD.exec(row);
    if (head !== null) {
      [old, next] = [Number(head[1]), Number(head[2])];
      hunks.push({ head: row, lines: [] });
      continue;
    }
    const lines = hunks.at(-1)?.lines;
    if (lines === undefined) continue;
    const text = row.slice(1).replace(/\r$/, "");
    if (row.startsWith("\\")) {
      const last = lines.at(-1);
      if (last !== undefined) last.isUnended = true;
    } else if (row.startsWith("-")) {
      lines.push({ kind: "deleted", old: old++, new: null, text, isUnended: false });
    } else if (row.startsWith("+")) {
      lines.push({ kind: "added", old: null, new: next++, text, isUnended: false });
    } else lines.push({ kind: "same", old: old++, new: next++, text, isUnended: false });
  }
  let pairs = 0;
  return hunks.map(({ head, lines }) => ({
    head,
    lines: withWords(lines, () => pairs++ < MAX_PAIRS),
  }));
}

/** Compares the words of deleted lines with those of the added ones that follow them. */
function withWords(lines: readonly RawLine[], mayCompare: () => boolean): DiffLine[] {
  const words = new Map<RawLine, DiffWord[]>();
  for (let start = 0; start < lines.length; start++) {
    if (lines[start]?.kind !== "deleted") continue;
    let middle = start;
    while (lines[middle]?.kind === "deleted") middle++;
    let end = middle;
    while (lines[end]?.kind === "added") end++;
    for (let i = 0; i < Math.min(middle - start, end - middle); i++) {
      const [before, after] = [lines[start + i], lines[middle + i]];
      if (before === undefined || after === undefined || !mayCompare()) break;
      const compared = compareWords(before.text, after.text);
      if (compared === null) continue;
      words.set(before, compared.old);
      words.set(after, compared.new);
    }
    start = Math.max(start, end - 1);
  }
  return lines.map(({ text, ...line }, index) => {
    const raw = lines[index];
    const own = raw === undefined ? undefined : words.get(raw);
    return { ...line, words: own ?? [{ text, isChanged: false }] };
  });
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

/** Some lines of a diff. Their hunks keep their heads. */
export function sliceHunks(hunks: readonly DiffHunk[], start: number, count: number): DiffHunk[] {
  const parts: DiffHunk[] = [];
  let position = 0;
  for (const { head, lines } of hunks) {
    const [from, to] = [Math.max(0, start - position), start + count - position];
    const part = lines.slice(from, Math.max(0, to));
    if (part.length > 0) parts.push({ head, lines: part });
    position += lines.length;
  }
  return parts;
}
