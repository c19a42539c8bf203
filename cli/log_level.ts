import { z } from "zod";
import { LOG_LEVELS, type LogLevel } from "../services/log.ts";
import { ApiClient } from "./client.ts";
import type { Command } from "./command_line/mod.ts";
import { type CommandOptions, URL_OPTION } from "./options.ts";
import { print } from "./output.ts";

const levelSchema = z.object({ level: z.enum(LOG_LEVELS) });

/** `muster log level`: shows the level of the running server's log, or changes it. */
async function logLevel(level: LogLevel | undefined, options: CommandOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  const answer = level === undefined
    ? await client.call("GET", "/v1/log", levelSchema)
    : await client.call("PUT", "/v1/log", levelSchema, { level });
  print(answer.level);
}

export const LEVEL: Command = {
  name: "level",
  summary: "show or change the level of the running server's own log",
  parameters: [{ usage: "[level]", choices: LOG_LEVELS }],
  options: [URL_OPTION],
  notes: [
    "The change lasts until the configuration is read again, or the server is restarted. " +
    "log.level in the configuration lasts.",
  ],
  run: logLevel,
};
