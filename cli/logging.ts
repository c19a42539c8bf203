import type { Config } from "../services/config/mod.ts";
import { type Log, LOG_LEVELS, type LogLevel, type LogThreshold } from "../services/log.ts";
import { LineWriter } from "./line_writer.ts";
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
