import { amount } from "../services/amount.ts";
import { z } from "zod";
import { ApiClient } from "./client.ts";
import type { Command } from "./command_line/mod.ts";
import { checkCount, type CommandOptions, JSON_OPTION, URL_OPTION } from "./options.ts";
import { CommandFailed, print, printJson, visible } from "./output.ts";

const inboxSchema = z.looseObject({
  id: z.string(),
  from: z.string(),
  channel: z.string().nullable(),
  text: z.string(),
  timestamp: z.string(),
});

const acknowledgedSchema = z.looseObject({ acknowledged: z.number() });

/** `muster agent inbox`: messages to an agent, and mentions of it. */
async function showInbox(
  nick: string,
  { lines = 0, wait = 0, ids = false, ...options }: CommandOptions & {
    readonly lines?: number;
    /** Seconds. */
    readonly wait?: number;
    readonly ids?: boolean;
  },
): Promise<void> {
  const client = await ApiClient.connect(options);
  const query = `limit=${Math.max(lines, 1)}&wait_seconds=${wait}`;
  const timeout = (wait + 30) * 1000;
  const schema = z.array(inboxSchema);
  const path = `${pathOf(nick)}?${query}`;
  const messages = await client.call("GET", path, schema, undefined, timeout);
  if (options.json === true) return printJson(messages);
  for (const { id, from, channel, text, timestamp } of messages) {
    const time = timestamp.slice(0, 16).replace("T", " ");
    const origin = channel === null ? from : `${from} in ${channel}`;
    print(`${ids ? `${id} ` : ""}${time} <${visible(origin)}> ${visible(text)}`);
  }
}

/** `muster agent acknowledge`: removes entries that the agent is done with. */
async function acknowledge(
  nick: string,
  ids: readonly string[],
  { upTo, ...options }: CommandOptions & { readonly upTo?: string },
): Promise<void> {
  if ((ids.length === 0) === (upTo === undefined)) {
    throw new CommandFailed("Name the ids of entries, or the last one by --up-to", 2);
  }
  const client = await ApiClient.connect(options);
  const body = upTo === undefined ? { ids } : { up_to: upTo };
  const path = `${pathOf(nick)}/acknowledge`;
  const answer = await client.call("POST", path, acknowledgedSchema, body);
  if (options.json === true) return printJson(answer);
  print(`${amount(answer.acknowledged, "entry", "entries")} removed`);
}

function pathOf(nick: string): string {
  return `/v1/agents/${encodeURIComponent(nick)}/messages`;
}

const NICK = { usage: "<nick>" };

/** The commands for an agent's inbox. */
export const AGENT_INBOX: readonly Command[] = [
  {
    name: "inbox",
    summary: "print an agent's inbox: messages to it and mentions of it",
    parameters: [NICK],
    options: [
      {
        flags: "-n, --lines <count>",
        summary: "most messages to print",
        parse: checkCount,
        default: 20,
      },
      {
        flags: "--wait <seconds>",
        summary: "longest wait for a first message, in seconds, at most 60",
        parse: checkCount,
      },
      { flags: "--ids", summary: "begin each line with the id of the entry" },
      JSON_OPTION,
      URL_OPTION,
    ],
    run: showInbox,
  },
  {
    name: "acknowledge",
    summary: "remove entries of an agent's inbox that it is done with",
    parameters: [NICK, { usage: "[ids...]" }],
    options: [
      { flags: "--up-to <id>", summary: "this entry and every older one" },
      JSON_OPTION,
      URL_OPTION,
    ],
    examples: [{ line: "agent inbox scout --ids", purpose: "See the ids of the entries" }],
    run: acknowledge,
  },
];
