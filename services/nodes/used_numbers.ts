/** How many numbers below the highest one are remembered; a power of two. */
const REMEMBERED = 262_144;

/**
 * Which numbers of a count were used, in 32 KB: of the newest {@linkcode REMEMBERED} ones, each by a
 * bit. Older ones count as used.
 */
export class UsedNumbers {
  readonly #bits = new Uint32Array(REMEMBERED / 32);
  #highest = 0;

  /**
   * Uses a number.
   *
   * @param number a whole number above 0
   * @returns false if it was used before
   */
  add(number: number): boolean {
    if (number <= this.#highest - REMEMBERED) return false;
    if (number > this.#highest) this.#raise(number);
    else if (this.#isUsed(number)) return false;
    this.#set(number, true);
    return true;
  }

  /** Makes room up to a number. */
  #raise(number: number): void {
    if (number - this.#highest >= REMEMBERED) this.#bits.fill(0);
    else for (let next = this.#highest + 1; next < number; next++) this.#set(next, false);
    this.#highest = number;
  }

  #isUsed(number: number): boolean {
    return ((this.#bits[wordOf(number)] ?? 0) & bitOf(number)) !== 0;
  }

  #set(number: number, isUsed: boolean): void {
    const word = wordOf(number);
    const bits = this.#bits[word] ?? 0;
    this.#bits[word] = isUsed ? bits | bitOf(number) : bits & ~bitOf(number);
  }
}

function wordOf(number: number): number {
  return (number % REMEMBERED) >>> 5;
}

function bitOf(number: number): number {
  return 1 << (number % 32);
}
