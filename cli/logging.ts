import {
  configure,
  dispose,
  getJsonLinesFormatter,
  getLogger,
  type LogRecord,
} from "@logtape/logtape";
import type { Config } from "../services/config/mod.ts";
import type { Log } from "../services/log.ts";
import { LineWriter } from "./line_writer.ts";

/** How long the program waits at its end for the reader of the log, in milliseconds. */
const FLUSH_LIMIT = 1000;

/**
 * Sets the process's logging up: one line per record on standard error, for people where that is a
 * terminal, else as JSON.
 */
export async function startLogging({ level, format }: Config["log"]): Promise<Log> {
  const json = format === "json" || (format === "auto" && !Deno.stderr.isTerminal());
  const formatter = json ? getJsonLinesFormatter({ properties: "flatten" }) : readableLine;
  const writer = new LineWriter(Deno.stderr);
  const write = (record: LogRecord) => writer.write(formatter(record).trimEnd());
  await configure({
    sinks: { stderr: Object.assign(write, { [Symbol.asyncDispose]: () => flush(writer) }) },
    loggers: [
      { category: "muster", sinks: ["stderr"], lowestLevel: level },
      { category: ["logtape", "meta"], sinks: ["stderr"], lowestLevel: "warning" },
    ],
    reset: true,
  });
  return getLogger("muster");
}

/** Writes out what is still to be written. */
export async function stopLogging(): Promise<void> {
  await dispose();
}

async function flush(writer: LineWriter): Promise<void> {
  const limit = Promise.withResolvers<void>();
  const timer = setTimeout(limit.resolve, FLUSH_LIMIT);
  await Promise.race([writer.flush(), limit.promise]);
  clearTimeout(timer);
}

function readableLine(record: LogRecord): string {
  const time = new Date(record.timestamp).toISOString().slice(11, 23);
  const properties = Object.entries(record.properties)
    .map(([key, value]) => `${key}=${value instanceof Error ? value.stack : JSON.stringify(value)}`)
    .join(" ");
  return `${time} ${record.level.padEnd(7)} ${record.message.join("")} ${properties}`;
}
