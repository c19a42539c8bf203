/**
 * The difference of two sequences of numbers, as lines of a text are given. Myers' algorithm in its
 * linear-space form: "An O(ND) Difference Algorithm and Its Variations", Algorithmica 1 (1986).
 */

/** Items `[fromStart, fromEnd)` were replaced by items `[toStart, toEnd)`. */
export interface Hunk {
  readonly fromStart: number;
  readonly fromEnd: number;
  readonly toStart: number;
  readonly toEnd: number;
}

/**
 * Edits that are looked for around one point before a good split is taken for the best one. The
 * result is a correct difference all the same, though not always the shortest.
 */
const DEFAULT_MAX_COST = 1024;

/**
 * The hunks that lead from one sequence to another, in order; between two of them stands at least
 * one common item. A hunk that could stand in several places stands as far down as it can. Time is
 * bounded by the length of the sequences times `maxCost`.
 */
export function diffSequences(
  from: Int32Array,
  to: Int32Array,
  maxCost = DEFAULT_MAX_COST,
): Hunk[] {
  const shortest = Math.min(from.length, to.length);
  let start = 0;
  while (start < shortest && from[start] === to[start]) start++;
  let tail = 0;
  while (tail < shortest - start && from.at(-1 - tail) === to.at(-1 - tail)) tail++;
  const changed = {
    from: new Uint8Array(from.length).fill(1, start, from.length - tail),
    to: new Uint8Array(to.length).fill(1, start, to.length - tail),
  };
  const left = commonItems(from, start, from.length - tail, to, start, to.length - tail);
  const right = commonItems(to, start, to.length - tail, from, start, from.length - tail);
  const pairs = new Comparison(
    left.map((i) => from[i]!),
    right.map((i) => to[i]!),
    maxCost,
  ).commonPairs();
  for (const [i, j] of pairs) {
    changed.from[left[i]!] = 0;
    changed.to[right[j]!] = 0;
  }
  return slideDown(hunksOf(changed.from, changed.to), from, to);
}

/** Indexes of the items that stand in the other sequence too: no other one can be common. */
function commonItems(
  items: Int32Array,
  start: number,
  end: number,
  others: Int32Array,
  othersStart: number,
  othersEnd: number,
): Int32Array {
  const known = new Set(others.subarray(othersStart, othersEnd));
  const kept: number[] = [];
  for (let i = start; i < end; i++) {
    if (known.has(items[i]!)) kept.push(i);
  }
  return Int32Array.from(kept);
}

function hunksOf(fromChanged: Uint8Array, toChanged: Uint8Array): Hunk[] {
  const hunks: Hunk[] = [];
  for (let i = 0, j = 0; i < fromChanged.length || j < toChanged.length;) {
    const [fromStart, toStart] = [i, j];
    while (fromChanged[i] === 1) i++;
    while (toChanged[j] === 1) j++;
    if (i > fromStart || j > toStart) hunks.push({ fromStart, fromEnd: i, toStart, toEnd: j });
    i++;
    j++;
  }
  return hunks;
}

/** Moves pure insertions and deletions down over equal items; those that meet become one. */
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

/** Part of both sequences that is still to be compared. */
interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** Above every index. */
const FAR = 0x7fffffff;

/** One run of the algorithm: `x` runs along the first sequence, `y` along the second. */
class Comparison {
  readonly #from: Int32Array;
  readonly #to: Int32Array;
  readonly #maxCost: number;
  /** Furthest `x` reached on each diagonal `x - y`, from the start and from the end. */
  readonly #forward: Int32Array;
  readonly #backward: Int32Array;
  /** Added to a diagonal to make it an index. */
  readonly #shift: number;

  constructor(from: Int32Array, to: Int32Array, maxCost: number) {
    this.#from = from;
    this.#to = to;
    this.#maxCost = maxCost;
    this.#shift = to.length + 1;
    this.#forward = new Int32Array(from.length + to.length + 3);
    this.#backward = new Int32Array(from.length + to.length + 3);
  }

  /** Indexes of items that are kept, as pairs. */
  *commonPairs(): Generator<readonly [number, number]> {
    const [from, to] = [this.#from, this.#to];
    const boxes: Box[] = [{ left: 0, right: from.length, top: 0, bottom: to.length }];
    for (let box = boxes.pop(); box !== undefined; box = boxes.pop()) {
      let { left, right, top, bottom } = box;
      while (left < right && top < bottom && from[left] === to[top]) yield [left++, top++];
      while (left < right && top < bottom && from[right - 1] === to[bottom - 1]) {
        yield [--right, --bottom];
      }
      if (left === right || top === bottom) continue;
      const [x, y] = this.#split({ left, right, top, bottom });
      boxes.push({ left, right: x, top, bottom: y }, { left: x, right, top: y, bottom });
    }
  }

  /** A point on a shortest way through the box, or on a good one where that is too far to seek. */
  #split(box: Box): readonly [number, number] {
    const { left, right, top, bottom } = box;
    const [lowest, highest] = [left - bottom, right - top];
    const [start, end] = [left - top, right - bottom];
    const forward = { min: start, max: start };
    const backward = { min: end, max: end };
    const isOdd = ((start - end) & 1) !== 0;
    this.#forward[start + this.#shift] = left;
    this.#backward[end + this.#shift] = right;
    for (let cost = 1;; cost++) {
      widen(forward, lowest, highest, this.#forward, this.#shift, -1);
      const ahead = this.#stepForward(box, forward, isOdd ? backward : null);
      if (ahead !== null) return ahead;
      widen(backward, lowest, highest, this.#backward, this.#shift, FAR);
      const behind = this.#stepBackward(box, backward, isOdd ? null : forward);
      if (behind !== null) return behind;
      if (cost >= this.#maxCost) return this.#furthest(box, forward, backward);
    }
  }

  #stepForward(box: Box, range: Range, other: Range | null): readonly [number, number] | null {
    const [from, to, reached, shift] = [this.#from, this.#to, this.#forward, this.#shift];
    for (let d = range.max; d >= range.min; d -= 2) {
      const [below, above] = [reached[d - 1 + shift]!, reached[d + 1 + shift]!];
      let x = below < above ? above : below + 1;
      let y = x - d;
      for (; x < box.right && y < box.bottom && from[x] === to[y]; x++) y++;
      reached[d + shift] = x;
      const meets = other !== null && other.min <= d && d <= other.max;
      if (meets && this.#backward[d + shift]! <= x) return [x, y];
    }
    return null;
  }

  #stepBackward(box: Box, range: Range, other: Range | null): readonly [number, number] | null {
    const [from, to, reached, shift] = [this.#from, this.#to, this.#backward, this.#shift];
    for (let d = range.max; d >= range.min; d -= 2) {
      const [below, above] = [reached[d - 1 + shift]!, reached[d + 1 + shift]!];
      let x = below < above ? below : above - 1;
      let y = x - d;
      for (; x > box.left && y > box.top && from[x - 1] === to[y - 1]; x--) y--;
      reached[d + shift] = x;
      const meets = other !== null && other.min <= d && d <= other.max;
      if (meets && x <= this.#forward[d + shift]!) return [x, y];
    }
    return null;
  }

  /** Of all points reached, the one with the longest way behind it. */
  #furthest(box: Box, forward: Range, backward: Range): readonly [number, number] {
    const { left, right, top, bottom } = box;
    let best: readonly [number, number] = [left, top];
    let length = -1;
    for (let d = forward.max; d >= forward.min; d -= 2) {
      const x = Math.min(this.#forward[d + this.#shift]!, right, bottom + d);
      if (x + x - d - left - top <= length) continue;
      length = x + x - d - left - top;
      best = [x, x - d];
    }
    for (let d = backward.max; d >= backward.min; d -= 2) {
      const x = Math.max(this.#backward[d + this.#shift]!, left, top + d);
      if (right + bottom - x - x + d <= length) continue;
      length = right + bottom - x - x + d;
      best = [x, x - d];
    }
    return best;
  }
}

/** Diagonals that are being looked at. */
interface Range {
  min: number;
  max: number;
}

/** Looks at one diagonal more on either side, or at one less where the box ends. */
function widen(
  range: Range,
  lowest: number,
  highest: number,
  reached: Int32Array,
  shift: number,
  unreached: number,
): void {
  if (range.min > lowest) reached[--range.min - 1 + shift] = unreached;
  else range.min++;
  if (range.max < highest) reached[++range.max + 1 + shift] = unreached;
  else range.max--;
}
