import { z } from "zod";
import { LOG_LEVELS, type LogLevel } from "../services/kernel/log.ts";
import { ApiClient } from "./client.ts";
import type { Command, Group } from "./command_line/mod.ts";
import {
  checkCount,
  checkNumber,
  type CommandOptions,
  JSON_OPTION,
  URL_OPTION,
} from "./options.ts";
import { print, printJsonLine, visible } from "./output.ts";
import { followStream } from "./tail.ts";

/** Events per request. */
const PAGE = 1000;

interface LogOptions extends CommandOptions {
  readonly follow?: boolean;
  readonly lines?: number;
  readonly after?: number;
  readonly types?: string;
}

const eventSchema = z.object({
  seq: z.int(),
  time: z.string(),
  type: z.string(),
  actor: z.string(),
  actor_id: z.string().nullable(),
  address: z.string().nullable(),
  cause: z.string().nullable(),
  data: z.record(z.string(), z.unknown()),
  hash: z.string(),
});

const pageSchema = z.object({
  events: z.array(eventSchema),
  cursor: z.int(),
  more: z.boolean(),
});

type LoggedEvent = z.infer<typeof eventSchema>;

/**
 * `muster log`: prints the newest events, or all after a number, and with `-f` then each new one,
 * until it is interrupted. If the server goes away, it waits and then continues where it was.
 */
async function showLog(options: LogOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  let cursor = options.after === undefined
    ? await printNewest(client, options)
    : await printAfter(client, options.after, options);
  if (options.follow !== true) return;
  await followStream(client, () => eventsPath(options, { after: cursor }), (data) => {
    const event = eventSchema.parse(data);
    cursor = event.seq;
    printEvent(event, options);
  });
}

async function printNewest(client: ApiClient, options: LogOptions): Promise<number> {
  const { lines = 0 } = options;
  const limit = Math.min(Math.max(lines, 1), PAGE);
  const page = await client.call("GET", eventsPath(options, { limit }), pageSchema);
  for (const event of lines === 0 ? [] : page.events) printEvent(event, options);
  return page.cursor;
}

async function printAfter(
  client: ApiClient,
  after: number,
  options: LogOptions,
): Promise<number> {
  let page: z.infer<typeof pageSchema>;
  let cursor = after;
  do {
    const path = eventsPath(options, { after: cursor, limit: PAGE });
    page = await client.call("GET", path, pageSchema);
    for (const event of page.events) printEvent(event, options);
    cursor = page.cursor;
  } while (page.more);
  return cursor;
}

function eventsPath({ types }: LogOptions, query: Readonly<Record<string, number>>): string {
  const parameters = new URLSearchParams(types === undefined ? {} : { types });
  for (const [name, value] of Object.entries(query)) parameters.set(name, String(value));
  return `/v1/events?${parameters}`;
}

function printEvent(event: LoggedEvent, { json }: CommandOptions): void {
  if (json === true) return printJsonLine(event);
  const { seq, time, type, actor, address, data } = event;
  const facts = Object.entries(data).map(([key, value]) => `${key}=${textOf(value)}`);
  const origin = address === null ? actor : `${actor} from ${address}`;
  print([String(seq), time, type, origin, facts.join(" ")].map(visible).join("  ").trimEnd());
}

function textOf(value: unknown): string {
  return typeof value === "string" && /^[^\s"]+$/.test(value) ? value : JSON.stringify(value);
}

const SHOW: Command = {
  name: "show",
  summary: "print events (the default)",
  options: [
    { flags: "-f, --follow", summary: "continue with each new event" },
    {
      flags: "-n, --lines <count>",
      summary: "newest events to print",
      parse: checkCount,
      default: 20,
    },
    {
      flags: "--after <number>",
      summary: "print all events after this number",
      parse: checkNumber,
    },
    {
      flags: "--types <types>",
      summary: "only these types, separated by commas, such as agent.*",
    },
    { ...JSON_OPTION, summary: "print one JSON object per event" },
    URL_OPTION,
  ],
  run: showLog,
};

const levelSchema = z.object({ level: z.enum(LOG_LEVELS) });

/** `muster log level`: shows the level of the running server's log, or changes it. */
async function logLevel(level: LogLevel | undefined, options: CommandOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  const answer = level === undefined
    ? await client.call("GET", "/v1/log", levelSchema)
    : await client.call("PUT", "/v1/log", levelSchema, { level });
  print(answer.level);
}

const LEVEL: Command = {
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

/** `muster log`: the event log, and the level of the program's own. */
export const LOG: Group = {
  default: "show",
  commands: [SHOW, LEVEL],
  examples: [
    { line: "log -f --types 'agent.*'", purpose: "Follow the events of agents" },
    { line: "log --after 0 --json", purpose: "Print the whole log as JSON" },
    { line: "log level debug", purpose: "Log every request of the running server" },
  ],
};
