/** Default limit of unpacked bytes: many become deltas before the transaction ends. */
const MAX_BYTES = 32 * 1024 * 1024;

/** Content of a transaction's rows that is not packed and written yet. */
export class Unpacked {
  readonly #contents = new Map<number, Uint8Array>();
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes = MAX_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** Whether it is time to pack. */
  get isFull(): boolean {
    return this.#bytes > this.#maxBytes;
  }

  get(rid: number): Uint8Array | undefined {
    return this.#contents.get(rid);
  }

  set(rid: number, stored: Uint8Array): void {
    this.#contents.set(rid, stored);
    this.#bytes += stored.length;
  }

  delete(rid: number): void {
    this.#contents.delete(rid);
  }

  clear(): void {
    this.#contents.clear();
    this.#bytes = 0;
  }

  /** Rows and their content. */
  [Symbol.iterator](): IterableIterator<[number, Uint8Array]> {
    return this.#contents.entries();
  }
}
