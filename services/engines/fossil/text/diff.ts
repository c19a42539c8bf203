import { matchSequences } from "./myers.ts";

/** Items `[fromStart, fromEnd)` were replaced by items `[toStart, toEnd)`. */
export interface Hunk {
  readonly fromStart: number;
  readonly fromEnd: number;
  readonly toStart: number;
  readonly toEnd: number;
}

/**
 * The hunks between two sequences, in order, separated by at least one common item. Each hunk is as
 * far down as possible.
 */
export function diffSequences(from: Int32Array, to: Int32Array): Hunk[] {
  const hunks: Hunk[] = [];
  let [fromStart, toStart] = [0, 0];
  const end = { left: from.length, right: to.length, length: 0 };
  for (const { left, right, length } of [...matchSequences(from, to), end]) {
    if (left > fromStart || right > toStart) {
      hunks.push({ fromStart, fromEnd: left, toStart, toEnd: right });
    }
    [fromStart, toStart] = [left + length, right + length];
  }
  return slideDown(hunks, from, to);
}

/** Moves pure insertions and deletions down over equal items; joins those that meet. */
function slideDown(hunks: readonly Hunk[], from: Int32Array, to: Int32Array): Hunk[] {
  const result: Hunk[] = [];
  for (let i = hunks.length - 1; i >= 0; i--) {
    let { fromStart, fromEnd, toStart, toEnd } = hunks[i]!;
    for (;;) {
      const next = result.at(-1);
      if (next?.fromStart === fromEnd && next.toStart === toEnd) {
        [fromEnd, toEnd] = [next.fromEnd, next.toEnd];
        result.pop();
      }
      const isInsertion = fromStart === fromEnd;
      if (!isInsertion && toStart < toEnd) break;
      if (fromEnd >= from.length || toEnd >= to.length) break;
      const [first, behind] = isInsertion
        ? [to[toStart], to[toEnd]]
        : [from[fromStart], from[fromEnd]];
      if (first !== behind) break;
      [fromStart, fromEnd, toStart, toEnd] = [fromStart + 1, fromEnd + 1, toStart + 1, toEnd + 1];
    }
    result.push({ fromStart, fromEnd, toStart, toEnd });
  }
  return result.reverse();
}
