/** A growing list of 32-bit integers. */
export class IntList {
  #numbers: Int32Array<ArrayBuffer>;
  #length = 0;

  /** @param room for so many at first */
  constructor(room = 64) {
    this.#numbers = new Int32Array(room);
  }

  get length(): number {
    return this.#length;
  }

  at(index: number): number {
    return this.#numbers[index]!;
  }

  push(number: number): void {
    if (this.#length === this.#numbers.length) this.#reserve(1);
    this.#numbers[this.#length++] = number;
  }

  /** Adds some numbers, each with something added to it. */
  pushAll(numbers: Int32Array, shift = 0): void {
    this.#reserve(numbers.length);
    this.#numbers.set(numbers, this.#length);
    const from = this.#length;
    this.#length += numbers.length;
    if (shift === 0) return;
    for (let i = from; i < this.#length; i++) this.#numbers[i]! += shift;
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#numbers.length) return;
    const grown = new Int32Array(Math.max(2 * this.#numbers.length, this.#length + count));
    grown.set(this.#numbers.subarray(0, this.#length));
    this.#numbers = grown;
  }

  /** The numbers, in an array of its own length; the list must not be used any more. */
  finish(): Int32Array {
    return this.#numbers.subarray(0, this.#length);
  }
}
