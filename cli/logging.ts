import {
  configure,
  dispose,
  getJsonLinesFormatter,
  getLogger,
  type LogRecord,
} from "@logtape/logtape";
import type { Config } from "../services/config/mod.ts";
import type { Log } from "../services/log.ts";
import { printError } from "./output.ts";

/**
 * Sets the process's logging up: one line per record on standard error, for people where that is a
 * terminal, else as JSON.
 */
export async function startLogging({ level, format }: Config["log"]): Promise<Log> {
  const json = format === "json" || (format === "auto" && !Deno.stderr.isTerminal());
  const formatter = json ? getJsonLinesFormatter({ properties: "flatten" }) : readableLine;
  await configure({
    sinks: { stderr: (record: LogRecord) => printError(formatter(record).trimEnd()) },
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

function readableLine(record: LogRecord): string {
  const time = new Date(record.timestamp).toISOString().slice(11, 23);
  const properties = Object.entries(record.properties)
    .map(([key, value]) => `${key}=${value instanceof Error ? value.stack : JSON.stringify(value)}`)
    .join(" ");
  return `${time} ${record.level.padEnd(7)} ${record.message.join("")} ${properties}`;
}
