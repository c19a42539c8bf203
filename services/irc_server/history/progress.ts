/** Positions in the shared memory. */
const WRITTEN = 0;
const AWAITED = 1;

/** Two 32-bit numbers of requests, then the used bytes of the file. */
const MEMORY_BYTES = 16;
const BYTES_OFFSET = 8;

/**
 * The worker's progress in writing, in memory that both threads share. The main thread reads it
 * when it has work anyway: a message from the worker would wake it for every batch.
 *
 * Numbers of requests may wrap around at 32 bits, because one write at a time is under way.
 */
export class Progress {
  readonly memory: SharedArrayBuffer;
  readonly #requests: Int32Array;
  readonly #bytes: Float64Array;

  /** @param memory the other thread's memory; by default, new memory */
  constructor(memory = new SharedArrayBuffer(MEMORY_BYTES)) {
    this.memory = memory;
    this.#requests = new Int32Array(memory, 0, 2);
    this.#bytes = new Float64Array(memory, BYTES_OFFSET, 1);
  }

  /** Used bytes of the file after the last write. */
  get bytes(): number {
    return this.#bytes[0] ?? 0;
  }

  /**
   * Records that a request, and all before it, are written. For the worker.
   *
   * @returns whether the main thread waits for a message about it
   */
  write(id: number, bytes: number): boolean {
    this.#bytes[0] = bytes;
    Atomics.store(this.#requests, WRITTEN, id);
    return Atomics.load(this.#requests, AWAITED) === (id | 0);
  }

  /** Whether a request was written. */
  isWritten(id: number): boolean {
    return Atomics.load(this.#requests, WRITTEN) === (id | 0);
  }

  /**
   * Asks the worker for a message once a request is written.
   *
   * @returns false if it is written already; then no message may come
   */
  await(id: number): boolean {
    Atomics.store(this.#requests, AWAITED, id);
    return !this.isWritten(id);
  }
}
