/**
 * The differences of two sequences of numbers, by Myers' algorithm in linear space: finds the
 * middle of a shortest edit script from both ends, then treats both halves in the same way.
 *
 * @see E. W. Myers, "An O(ND) Difference Algorithm and Its Variations", Algorithmica 1 (1986).
 */

/** A run of `length` equal elements, which start at `left` and at `right`. */
export interface Match {
  readonly left: number;
  readonly right: number;
  readonly length: number;
}

/** Steps after which the search for the middle accepts a longer path. */
const MIN_COST = 256;

/** A part of both sequences that remains to compare. */
interface Box {
  readonly left: number;
  readonly leftEnd: number;
  readonly right: number;
  readonly rightEnd: number;
}

/** Runs of equal elements in the order of both sequences. */
export function matchSequences(left: Int32Array, right: Int32Array): Match[] {
  const whole = { left: 0, leftEnd: left.length, right: 0, rightEnd: right.length };
  const { prefix, core, suffix } = trim(left, right, whole);
  const matches = prefix > 0 ? [{ left: 0, right: 0, length: prefix }] : [];
  const parts = [
    left.subarray(core.left, core.leftEnd),
    right.subarray(core.right, core.rightEnd),
  ] as const;
  for (const match of matchCores(...parts)) {
    matches.push({ ...match, left: match.left + prefix, right: match.right + prefix });
  }
  if (suffix > 0) matches.push({ left: core.leftEnd, right: core.rightEnd, length: suffix });
  return join(matches);
}

/** The same for sequences that have nothing in common at their ends; the runs may touch. */
function matchCores(left: Int32Array, right: Int32Array): Match[] {
  const matches: Match[] = [];
  const search = new Middle(left, right);
  const stack: Box[] = [{ left: 0, leftEnd: left.length, right: 0, rightEnd: right.length }];
  for (let box = stack.pop(); box !== undefined; box = stack.pop()) {
    const { prefix, core, suffix } = trim(left, right, box);
    if (prefix > 0) matches.push({ left: box.left, right: box.right, length: prefix });
    if (core.left < core.leftEnd && core.right < core.rightEnd) {
      const middle = search.find(core);
      if (middle !== null) {
        stack.push({ ...core, left: middle.left, right: middle.right });
        stack.push({ ...core, leftEnd: middle.left, rightEnd: middle.right });
      }
    }
    if (suffix > 0) matches.push({ left: core.leftEnd, right: core.rightEnd, length: suffix });
  }
  return matches.sort((one, other) => one.left - other.left);
}

/** Removes equal elements from both ends. */
function trim(left: Int32Array, right: Int32Array, box: Box) {
  let [leftStart, leftEnd, rightStart, rightEnd] = [box.left, box.leftEnd, box.right, box.rightEnd];
  while (leftStart < leftEnd && rightStart < rightEnd && left[leftStart] === right[rightStart]) {
    leftStart++;
    rightStart++;
  }
  while (
    leftStart < leftEnd && rightStart < rightEnd && left[leftEnd - 1] === right[rightEnd - 1]
  ) {
    leftEnd--;
    rightEnd--;
  }
  return {
    prefix: leftStart - box.left,
    core: { left: leftStart, leftEnd, right: rightStart, rightEnd },
    suffix: box.leftEnd - leftEnd,
  };
}

/** Joins adjacent runs. */
function join(matches: readonly Match[]): Match[] {
  const joined: Match[] = [];
  for (const match of matches) {
    const last = joined.at(-1);
    const touches = last !== undefined && last.left + last.length === match.left &&
      last.right + last.length === match.right;
    if (touches) joined[joined.length - 1] = { ...last, length: last.length + match.length };
    else joined.push(match);
  }
  return joined;
}

/**
 * Finds the point at which a box is cut in two. Keeps its two rows of furthest points, so that
 * they are allocated once for a whole comparison.
 */
class Middle {
  readonly #left: Int32Array;
  readonly #right: Int32Array;
  /** Furthest `left` reached on each diagonal, from the start and from the end. */
  readonly #forward: Int32Array;
  readonly #backward: Int32Array;
  readonly #origin: number;

  constructor(left: Int32Array, right: Int32Array) {
    this.#left = left;
    this.#right = right;
    this.#origin = right.length + 1;
    this.#forward = new Int32Array(left.length + right.length + 3);
    this.#backward = new Int32Array(left.length + right.length + 3);
  }

  /** A point on a shortest path, or on a good one if the shortest costs too much; null for none. */
  find(box: Box): { left: number; right: number } | null {
    const [forward, backward, origin] = [this.#forward, this.#backward, this.#origin];
    const start = box.left - box.right;
    const end = box.leftEnd - box.rightEnd;
    const isOdd = ((start - end) & 1) !== 0;
    const maxCost = Math.max(
      MIN_COST,
      Math.ceil(Math.sqrt(box.leftEnd - box.left + box.rightEnd - box.right)),
    );
    forward[origin + start] = box.left;
    backward[origin + end] = box.leftEnd;
    let [forwardLow, forwardHigh, backwardLow, backwardHigh] = [start, start, end, end];
    const [lowest, highest] = [box.left - box.rightEnd, box.leftEnd - box.right];
    for (let cost = 1;; cost++) {
      if (forwardLow > lowest) forward[origin + --forwardLow - 1] = -1;
      else forwardLow++;
      if (forwardHigh < highest) forward[origin + ++forwardHigh + 1] = -1;
      else forwardHigh--;
      for (let diagonal = forwardHigh; diagonal >= forwardLow; diagonal -= 2) {
        const reached = this.#advance(diagonal, box);
        forward[origin + diagonal] = reached;
        if (
          isOdd && diagonal >= backwardLow && diagonal <= backwardHigh &&
          backward[origin + diagonal]! <= reached
        ) return { left: reached, right: reached - diagonal };
      }
      if (backwardLow > lowest) backward[origin + --backwardLow - 1] = NEVER;
      else backwardLow++;
      if (backwardHigh < highest) backward[origin + ++backwardHigh + 1] = NEVER;
      else backwardHigh--;
      for (let diagonal = backwardHigh; diagonal >= backwardLow; diagonal -= 2) {
        const reached = this.#retreat(diagonal, box);
        backward[origin + diagonal] = reached;
        if (
          !isOdd && diagonal >= forwardLow && diagonal <= forwardHigh &&
          reached <= forward[origin + diagonal]!
        ) return { left: reached, right: reached - diagonal };
      }
      if (cost >= maxCost) return this.#furthest(box, forwardLow, forwardHigh);
    }
  }

  /** One step forward onto a diagonal, then along equal elements. */
  #advance(diagonal: number, box: Box): number {
    const below = this.#forward[this.#origin + diagonal - 1]!;
    const above = this.#forward[this.#origin + diagonal + 1]!;
    let left = below >= above ? below + 1 : above;
    let right = left - diagonal;
    while (left < box.leftEnd && right < box.rightEnd && this.#left[left] === this.#right[right]) {
      left++;
      right++;
    }
    return left;
  }

  /** Like `#advance`, from the end. */
  #retreat(diagonal: number, box: Box): number {
    const below = this.#backward[this.#origin + diagonal - 1]!;
    const above = this.#backward[this.#origin + diagonal + 1]!;
    let left = below < above ? below : above - 1;
    let right = left - diagonal;
    while (
      left > box.left && right > box.right && this.#left[left - 1] === this.#right[right - 1]
    ) {
      left--;
      right--;
    }
    return left;
  }

  /** The point furthest from the start, if a shortest path costs too much. */
  #furthest(box: Box, low: number, high: number): { left: number; right: number } | null {
    let best = { left: box.left, right: box.right };
    for (let diagonal = high; diagonal >= low; diagonal -= 2) {
      const left = Math.min(this.#forward[this.#origin + diagonal]!, box.leftEnd);
      const right = left - diagonal;
      if (right < box.right || right > box.rightEnd || left < box.left) continue;
      if (left + right > best.left + best.right) best = { left, right };
    }
    return best.left === box.left && best.right === box.right ? null : best;
  }
}

/** Further than any element. */
const NEVER = 0x7fffffff;
