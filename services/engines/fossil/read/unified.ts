import { decodeUtf8 } from "../codec/mod.ts";
import { LineTable, type Match, matchSequences, sliceLines, type SplitText } from "../text/mod.ts";

/** Lines that differ: `left` to `leftEnd` were replaced by `right` to `rightEnd`. */
interface Change {
  readonly left: number;
  readonly leftEnd: number;
  readonly right: number;
  readonly rightEnd: number;
}

/** A unified diff and its size. */
export interface UnifiedDiff {
  /** Hunks without file headers; empty if nothing differs. */
  readonly hunks: string;
  readonly added: number;
  readonly deleted: number;
}

/**
 * Compares two texts by lines, as `diff -u` writes it.
 *
 * @param context lines around each change.
 * @param isLoose whether changes of white space within lines are left out, as by `diff -uw`. Lines
 * that differ in nothing else are shown as they are after the change.
 */
export function unifiedDiff(
  before: Uint8Array,
  after: Uint8Array,
  context: number,
  isLoose = false,
): UnifiedDiff {
  const table = new LineTable();
  const left = table.split(before);
  const right = table.splitLike(left, after);
  const matches = isLoose ? looseMatches(before, after) : matchSequences(left.ids, right.ids);
  const changes = changesBetween(matches, left.ids.length, right.ids.length)
    .map((change, i, all) => {
      const limit = all[i + 1]?.left ?? left.ids.length;
      return isLoose ? change : slideDown(change, left, right, limit);
    });
  const writer = new HunkWriter(left, right, context);
  for (const group of groupsOf(changes, context)) writer.write(group);
  return { hunks: writer.text, added: writer.added, deleted: writer.deleted };
}

/** Runs of lines that differ in white space at most. */
function looseMatches(before: Uint8Array, after: Uint8Array): Match[] {
  const table = new LineTable();
  const left = table.split(withoutSpace(before));
  return matchSequences(left.ids, table.splitLike(left, withoutSpace(after)).ids);
}

const LINE_FEED = 10;

/** The lines of a text without white space, each with an end. */
function withoutSpace(text: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(text.length + 1);
  let length = 0;
  for (const byte of text) {
    if (byte === LINE_FEED || (byte !== 32 && (byte < 9 || byte > 13))) bytes[length++] = byte;
  }
  if (text.length > 0 && text.at(-1) !== LINE_FEED) bytes[length++] = LINE_FEED;
  return bytes.subarray(0, length);
}

/** The changes between the runs of equal lines. */
function changesBetween(matches: readonly Match[], leftCount: number, rightCount: number) {
  const changes: Change[] = [];
  let [left, right] = [0, 0];
  for (const match of [...matches, { left: leftCount, right: rightCount, length: 0 }]) {
    if (match.left > left || match.right > right) {
      changes.push({ left, leftEnd: match.left, right, rightEnd: match.right });
    }
    left = match.left + match.length;
    right = match.right + match.length;
  }
  return changes;
}

/**
 * A pure addition or deletion can often move down a little. People expect it as far down as
 * possible.
 *
 * @param limit line on the left at which the next change starts.
 */
function slideDown(change: Change, left: SplitText, right: SplitText, limit: number): Change {
  const { leftEnd, rightEnd } = change;
  const isInsertion = change.left === leftEnd;
  if (!isInsertion && change.right !== rightEnd) return change;
  const [{ ids }, start, end] = isInsertion
    ? [right, change.right, rightEnd]
    : [left, change.left, leftEnd];
  let steps = 0;
  while (leftEnd + steps < limit && ids[start + steps] === ids[end + steps]) steps++;
  return {
    left: change.left + steps,
    leftEnd: leftEnd + steps,
    right: change.right + steps,
    rightEnd: rightEnd + steps,
  };
}

/** Changes that are near enough to share a hunk. */
function groupsOf(changes: readonly Change[], context: number): Change[][] {
  const groups: Change[][] = [];
  for (const change of changes) {
    const last = groups.at(-1)?.at(-1);
    if (last !== undefined && change.left - last.leftEnd <= 2 * context) {
      groups.at(-1)!.push(change);
    } else groups.push([change]);
  }
  return groups;
}

/** Writes hunks. */
class HunkWriter {
  readonly #left: SplitText;
  readonly #right: SplitText;
  readonly #context: number;
  readonly #parts: string[] = [];
  added = 0;
  deleted = 0;

  constructor(left: SplitText, right: SplitText, context: number) {
    this.#left = left;
    this.#right = right;
    this.#context = context;
  }

  get text(): string {
    return this.#parts.join("");
  }

  write(group: readonly Change[]): void {
    const [first, last] = [group[0]!, group.at(-1)!];
    const before = Math.min(this.#context, first.left);
    const after = Math.min(this.#context, this.#left.ids.length - last.leftEnd);
    const [left, right] = [first.left - before, first.right - before];
    const [leftCount, rightCount] = [last.leftEnd + after - left, last.rightEnd + after - right];
    this.#parts.push(`@@ -${range(left, leftCount)} +${range(right, rightCount)} @@\n`);
    let at = right;
    for (const change of group) {
      this.#lines(" ", this.#right, at, change.right);
      this.#lines("-", this.#left, change.left, change.leftEnd);
      this.#lines("+", this.#right, change.right, change.rightEnd);
      this.deleted += change.leftEnd - change.left;
      this.added += change.rightEnd - change.right;
      at = change.rightEnd;
    }
    this.#lines(" ", this.#right, at, at + after);
  }

  #lines(mark: string, lines: SplitText, from: number, to: number): void {
    for (let i = from; i < to; i++) {
      const line = decodeUtf8(sliceLines(lines, i, i + 1));
      this.#parts.push(mark, line);
      if (!line.endsWith("\n")) this.#parts.push("\n\\ No newline at end of file\n");
    }
  }
}

/** First line and number of lines; an empty range names the line before it. */
function range(start: number, count: number): string {
  const first = count === 0 ? start : start + 1;
  return count === 1 ? `${first}` : `${first},${count}`;
}
