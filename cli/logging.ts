import type { Config } from "../services/config/mod.ts";
import type { Log } from "../services/log.ts";
import { LineWriter } from "./line_writer.ts";
import { jsonFormat, type LogFormat, type LogLevel, readableFormat } from "./log_format.ts";

/** Longest wait for the reader of the log when the program ends, in milliseconds. */
const FLUSH_LIMIT = 1000;

const SEVERITY: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warning: 2, error: 3 };

/** The destination and format of the log. */
type LogStream = Pick<typeof Deno.stderr, "write" | "isTerminal">;

/**
 * The log of the program: one line per record, for people if the stream is a terminal, otherwise as
 * JSON.
 */
export class Logging implements Log {
  readonly #stream: LogStream;
  readonly #writer: LineWriter;
  #least = 0;
  #format: LogFormat = jsonFormat(Date.now);

  constructor(settings: Config["log"], stream: LogStream = Deno.stderr) {
    this.#stream = stream;
    this.#writer = new LineWriter(stream);
    this.reconfigure(settings);
  }

  /** Applies other settings to later lines. */
  reconfigure({ level, format }: Config["log"]): void {
    const isJson = format === "json" || (format === "auto" && !this.#stream.isTerminal());
    this.#least = SEVERITY[level];
    this.#format = isJson ? jsonFormat(Date.now) : readableFormat(Date.now);
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

  /** Writes the waiting lines, unless the reader of the log is stuck. */
  async flush(): Promise<void> {
    const limit = Promise.withResolvers<void>();
    const timer = setTimeout(limit.resolve, FLUSH_LIMIT);
    await Promise.race([this.#writer.flush(), limit.promise]);
    clearTimeout(timer);
  }

  #write(level: LogLevel, message: string, properties: Record<string, unknown> = {}): void {
    if (SEVERITY[level] < this.#least) return;
    this.#writer.write(this.#format(level, message, properties));
  }
}
