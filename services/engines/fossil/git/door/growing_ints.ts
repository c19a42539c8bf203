/** A list of whole numbers that grows, in four bytes each. */
export class GrowingInts {
  #numbers = new Int32Array(16);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Removes all numbers. */
  clear(): void {
    this.#length = 0;
  }

  /** Adds a number; returns its place. */
  push(number: number): number {
    if (this.#length === this.#numbers.length) {
      const longer = new Int32Array(this.#length * 2);
      longer.set(this.#numbers);
      this.#numbers = longer;
    }
    this.#numbers[this.#length] = number;
    return this.#length++;
  }

  /** The number at a place; 0 beyond the end. */
  at(place: number): number {
    return place < this.#length ? this.#numbers[place]! : 0;
  }

  /** A view of the numbers from a place to another. */
  slice(start: number, end: number): Int32Array {
    return this.#numbers.subarray(start, end);
  }
}
