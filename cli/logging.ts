import type { Config } from "../services/operation/config/mod.ts";
import { amount } from "../services/kernel/words.ts";
import { type Log, LOG_LEVELS, type LogLevel, type LogThreshold } from "../services/kernel/log.ts";
import { type Scheduler, systemScheduler, untilMultiple } from "../services/kernel/scheduler.ts";
import { formatted, isPlain, jsonFormat, type LogFormat, readableFormat } from "./log_format.ts";

/** Longest wait for the reader of the log when the program ends, in milliseconds. */
const FLUSH_LIMIT = 1000;

/** The destination and format of the log. */
type LogStream = Pick<typeof Deno.stderr, "write" | "isTerminal">;

/**
 * The log of the program: one line per record, for people if the stream is a terminal, otherwise as
 * JSON.
 */
export class Logging implements Log, LogThreshold {
  readonly #stream: LogStream;
  readonly #writer: LineWriter;
  #least = 0;
  #format: LogFormat = jsonFormat();
  #requests: "on" | "debug" | "off" = "on";

  constructor(settings: Config["log"], stream: LogStream = Deno.stderr) {
    this.#stream = stream;
    this.#writer = new LineWriter(stream);
    this.reconfigure(settings);
  }

  /** Applies other settings to later lines. */
  reconfigure({ level, format, requests }: Config["log"]): void {
    const isJson = format === "json" || (format === "auto" && !this.#stream.isTerminal());
    this.level = level;
    this.#format = isJson ? jsonFormat() : readableFormat();
    this.#requests = requests !== "auto" ? requests : isJson ? "on" : "debug";
  }

  get level(): LogLevel {
    return LOG_LEVELS[this.#least] ?? "info";
  }

  /** Changes the least severe level of later lines. */
  set level(level: LogLevel) {
    this.#least = LOG_LEVELS.indexOf(level);
  }

  debug(message: string, properties?: Record<string, unknown>): void {
    this.#write("debug", message, properties);
  }

  info(message: string, properties?: Record<string, unknown>): void {
    this.#write("info", message, properties);
  }

  warn(message: string, properties?: Record<string, unknown>): void {
    this.#write("warning", message, properties);
  }

  error(message: string, properties?: Record<string, unknown>): void {
    this.#write("error", message, properties);
  }

  request(level: "debug" | "info", properties: Record<string, unknown>): void {
    if (this.#requests === "off") return;
    this.#write(this.#requests === "debug" ? "debug" : level, "Request", properties);
  }

  /** Writes the waiting lines, unless the reader of the log is stuck. */
  async flush(): Promise<void> {
    const limit = Promise.withResolvers<void>();
    const timer = setTimeout(limit.resolve, FLUSH_LIMIT);
    await Promise.race([this.#writer.flush(), limit.promise]);
    clearTimeout(timer);
  }

  #write(level: LogLevel, message: string, properties: Record<string, unknown> = {}): void {
    if (LOG_LEVELS.indexOf(level) < this.#least) return;
    const record = { time: Date.now(), level, message, properties };
    const format = this.#format;
    const isUrgent = level === "warning" || level === "error";
    this.#writer.write(
      isPlain(record) ? () => format(record) : formatted(record, format),
      isUrgent,
    );
  }
}

/** Lines that may wait to be written; further ones are dropped and counted. */
const MAX_WAITING = 10_000;

/**
 * How long lines are gathered for one write at most, in milliseconds: first, and while lines keep
 * coming. A write wakes another thread, and its end wakes this one.
 */
const FIRST_GATHER_MILLISECONDS = 20;
const LAST_GATHER_MILLISECONDS = 1000;

/** So many lines are written without gathering more. */
const MOST_GATHERED = 1000;

/** After so many milliseconds without a write, lines are gathered for the first time again. */
const QUIET_MILLISECONDS = 500;

/**
 * A line, or what makes it when it is written: one line after the other takes a fraction of the time
 * that each takes alone.
 */
type Line = string | (() => string);

/**
 * Writes lines to a stream without blocking the program. Lines within 20 ms share one write; each
 * write in a row gathers for twice as long, up to a second, and longer while the reader is slow. An urgent
 * line waits for 20 ms at most. They wait in a bounded queue; lines beyond its bound are dropped and
 * counted.
 */
export class LineWriter {
  readonly #stream: Pick<typeof Deno.stderr, "write">;
  readonly #scheduler: Scheduler;
  readonly #encoder = new TextEncoder();
  #waiting: Line[] = [];
  #dropped = 0;
  #writing: Promise<void> | null = null;
  /** Begins the next write; absent if none is due. */
  #cancel: (() => void) | null = null;
  /** How long the next lines are gathered. */
  #gather = FIRST_GATHER_MILLISECONDS;
  /** When the last write began, in Unix milliseconds. */
  #lastAt = -Infinity;
  /** Whether one of the waiting lines is urgent. */
  #isUrgent = false;

  constructor(stream: Pick<typeof Deno.stderr, "write">, scheduler: Scheduler = systemScheduler) {
    this.#stream = stream;
    this.#scheduler = scheduler;
  }

  /**
   * Queues a line, given without its line break.
   *
   * @param isUrgent whether it should not wait for others for long
   */
  write(line: Line, isUrgent = false): void {
    if (this.#waiting.length >= MAX_WAITING) this.#dropped++;
    else this.#waiting.push(line);
    if (isUrgent && !this.#isUrgent) {
      this.#isUrgent = true;
      this.#cancel?.();
      this.#cancel = null;
    }
    if (this.#waiting.length >= MOST_GATHERED) this.#start();
    else if (this.#cancel === null) this.#startLater();
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
    const now = this.#scheduler.now();
    const isQuiet = Math.abs(now - this.#lastAt) >= QUIET_MILLISECONDS;
    if (isQuiet) this.#gather = FIRST_GATHER_MILLISECONDS;
    const gather = this.#isUrgent ? FIRST_GATHER_MILLISECONDS : this.#gather;
    this.#cancel = this.#scheduler.after(untilMultiple(gather, now), () => this.#start());
  }

  #start(): void {
    this.#cancel?.();
    this.#cancel = null;
    if (this.#writing !== null) return;
    this.#lastAt = this.#scheduler.now();
    this.#isUrgent = false;
    this.#gather = Math.min(2 * this.#gather, LAST_GATHER_MILLISECONDS);
    this.#writing = this.#writeWaiting();
  }

  async #writeWaiting(): Promise<void> {
    const lines = this.#waiting.map((line) => typeof line === "string" ? line : line());
    this.#waiting = [];
    if (this.#dropped > 0) {
      lines.push(
        `(${amount(this.#dropped, "line")} of the log ${
          this.#dropped === 1 ? "was" : "were"
        } dropped here)`,
      );
    }
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
