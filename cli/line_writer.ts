/** Lines that may wait to be written; more are dropped, and counted. */
const MAX_WAITING = 10_000;

/**
 * Writes lines to a stream without blocking the program. While the reader is slow or stuck, lines wait
 * in a bounded queue; lines beyond its bound are dropped and counted.
 */
export class LineWriter {
  readonly #stream: Pick<typeof Deno.stderr, "write">;
  readonly #encoder = new TextEncoder();
  #waiting: string[] = [];
  #dropped = 0;
  #writing: Promise<void> | null = null;

  constructor(stream: Pick<typeof Deno.stderr, "write">) {
    this.#stream = stream;
  }

  /** Queues a line, given without its line break. */
  write(line: string): void {
    if (this.#waiting.length >= MAX_WAITING) this.#dropped++;
    else this.#waiting.push(line);
    this.#writing ??= this.#drain();
  }

  /** Resolves when everything that was queued is written. */
  async flush(): Promise<void> {
    await this.#writing;
  }

  async #drain(): Promise<void> {
    try {
      while (this.#waiting.length > 0) {
        const lines = this.#waiting;
        this.#waiting = [];
        if (this.#dropped > 0) lines.push(`(${this.#dropped} lines of the log were dropped here)`);
        this.#dropped = 0;
        await this.#writeAll(this.#encoder.encode(`${lines.join("\n")}\n`));
      }
    } catch {
      // Nobody reads the log any more; the program goes on.
      this.#waiting = [];
    }
    this.#writing = null;
  }

  async #writeAll(bytes: Uint8Array): Promise<void> {
    for (let written = 0; written < bytes.length;) {
      written += await this.#stream.write(bytes.subarray(written));
    }
  }
}
