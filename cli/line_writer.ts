import { untilMultiple } from "../services/scheduler.ts";

/** Lines that may wait to be written; further ones are dropped and counted. */
const MAX_WAITING = 10_000;

/**
 * How long lines are gathered for one write at most, in milliseconds. Changes of the history wait
 * until the same moment, so that the program wakes once for both.
 */
const GATHER_MILLISECONDS = 20;

/**
 * Writes lines to a stream without blocking the program. Lines within 20 ms share one write, or
 * more lines while the reader is slow. They wait in a bounded queue; lines beyond its bound are
 * dropped and counted.
 */
export class LineWriter {
  readonly #stream: Pick<typeof Deno.stderr, "write">;
  readonly #encoder = new TextEncoder();
  #waiting: string[] = [];
  #dropped = 0;
  #writing: Promise<void> | null = null;
  /** Begins the next write; absent if none is due. */
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(stream: Pick<typeof Deno.stderr, "write">) {
    this.#stream = stream;
  }

  /** Queues a line, given without its line break. */
  write(line: string): void {
    if (this.#waiting.length >= MAX_WAITING) this.#dropped++;
    else this.#waiting.push(line);
    this.#startLater();
  }

  /** Resolves when every queued line is written. */
  async flush(): Promise<void> {
    do {
      this.#start();
      await this.#writing;
    } while (this.#waiting.length > 0);
  }

  #startLater(): void {
    if (this.#writing !== null) return;
    const wait = untilMultiple(GATHER_MILLISECONDS, Date.now());
    this.#timer ??= setTimeout(() => this.#start(), wait);
  }

  #start(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing ??= this.#writeWaiting();
  }

  async #writeWaiting(): Promise<void> {
    const lines = this.#waiting;
    this.#waiting = [];
    if (this.#dropped > 0) lines.push(`(${this.#dropped} lines of the log were dropped here)`);
    this.#dropped = 0;
    try {
      if (lines.length > 0) await this.#writeAll(this.#encoder.encode(`${lines.join("\n")}\n`));
    } catch {
      // Nobody reads the log any more; the program continues.
      this.#waiting = [];
    }
    this.#writing = null;
    if (this.#waiting.length > 0) this.#startLater();
  }

  async #writeAll(bytes: Uint8Array): Promise<void> {
    for (let written = 0; written < bytes.length;) {
      written += await this.#stream.write(bytes.subarray(written));
    }
  }
}
