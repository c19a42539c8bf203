/** Sends the lines of a job's log, each once and in order, also if the server goes and comes back. */
import { type LogLine, MAX_BATCH_LINES } from "../../services/work/runs/assignment.ts";
import { untilThere } from "./retries.ts";
import { type Lease, Refused, type Server } from "./server.ts";

/** How long a line waits for others, in milliseconds. */
const BATCH_MS = 200;
/** A batch is sent at once when it has so many characters. */
const BATCH_CHARACTERS = 64 * 1024;
/** So many characters are kept for the server; then the job must wait, as for a full pipe. */
const MAX_KEPT = 8 * 1024 * 1024;
/** What a line costs beside its text. */
const LINE_COST = 64;

export interface LogSenderOptions {
  readonly server: Pick<Server, "log">;
  readonly lease: Lease;
  /** Ends all attempts. */
  readonly signal: AbortSignal;
  /** The server refuses the log. */
  readonly onRefused: (error: Refused) => void;
}

/** The log of one job. */
export class LogSender {
  readonly #options: LogSenderOptions;
  /** Lines that the server may not have. */
  #kept: LogLine[] = [];
  #keptCharacters = 0;
  /** The number of the first of these. */
  #first = 1;
  #isClosed = false;
  #wake = Promise.withResolvers<void>();
  #room = Promise.withResolvers<void>();
  readonly #sending: Promise<void>;

  constructor(options: LogSenderOptions) {
    this.#options = options;
    this.#sending = this.#send();
  }

  /** Adds a line. The promise, if there is one, resolves when there is room for more. */
  write(line: LogLine): Promise<void> | void {
    if (this.#options.signal.aborted) return;
    this.#kept.push(line);
    this.#keptCharacters += costOf(line);
    if (this.#isFull) this.#wake.resolve();
    if (this.#kept.length === 1) this.#wake.resolve();
    if (this.#keptCharacters > MAX_KEPT) return this.#room.promise;
  }

  /** Resolves when the server has every line, or the signal came. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#wake.resolve();
    await this.#sending;
  }

  get #isFull(): boolean {
    return this.#keptCharacters >= BATCH_CHARACTERS || this.#kept.length >= MAX_BATCH_LINES;
  }

  async #send(): Promise<void> {
    const { signal, onRefused } = this.#options;
    const onAbort = () => {
      this.#wake.resolve();
      this.#room.resolve();
    };
    signal.addEventListener("abort", onAbort);
    try {
      while (await this.#hasMore()) {
        this.#forget(await untilThere(signal, () => this.#sendBatch()));
      }
    } catch (error) {
      if (error instanceof Refused) onRefused(error);
      else if (!signal.aborted) throw error;
    } finally {
      signal.removeEventListener("abort", onAbort);
      onAbort();
    }
  }

  /** Waits for lines, and then a little for more. */
  async #hasMore(): Promise<boolean> {
    const { signal } = this.#options;
    while (this.#kept.length === 0 && !this.#isClosed && !signal.aborted) await this.#woken();
    if (signal.aborted) return false;
    const timer = setTimeout(() => this.#wake.resolve(), BATCH_MS);
    if (!this.#isFull && !this.#isClosed) await this.#woken();
    clearTimeout(timer);
    return this.#kept.length > 0 && !signal.aborted;
  }

  async #woken(): Promise<void> {
    await this.#wake.promise;
    this.#wake = Promise.withResolvers();
  }

  async #sendBatch(): Promise<number> {
    const { server, lease, signal } = this.#options;
    const lines: LogLine[] = [];
    let characters = 0;
    for (const line of this.#kept.slice(0, MAX_BATCH_LINES)) {
      if (characters >= BATCH_CHARACTERS) break;
      lines.push(line);
      characters += costOf(line);
    }
    try {
      return await server.log(lease, this.#first, lines, signal);
    } catch (error) {
      if (!(error instanceof Refused) || error.next === null) throw error;
      return error.next;
    }
  }

  /** @param next the number of the line that the server waits for */
  #forget(next: number): void {
    const known = Math.min(Math.max(next - this.#first, 0), this.#kept.length);
    for (const line of this.#kept.splice(0, known)) this.#keptCharacters -= costOf(line);
    // A server that has fewer lines than it said lost them: the log goes on where it is.
    this.#first = next;
    if (this.#keptCharacters > MAX_KEPT) return;
    this.#room.resolve();
    this.#room = Promise.withResolvers();
  }
}

function costOf({ text }: LogLine): number {
  return text.length + LINE_COST;
}
