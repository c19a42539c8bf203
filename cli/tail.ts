import { z } from "zod";
import { ApiClient } from "./client.ts";
import type { Leaf } from "./command_line/mod.ts";
import { checkCount, type CommandOptions, JSON_OPTION, URL_OPTION } from "./options.ts";
import { print, printJsonLine, visible } from "./output.ts";
import { followStream } from "./stream.ts";

const messageSchema = z.object({ nick: z.string(), text: z.string(), timestamp: z.string() });

type Message = z.infer<typeof messageSchema>;

/** The path of a channel in the API; its name may be written with or without `#`. */
export function channelPath(channel: string): string {
  return `/v1/channels/${encodeURIComponent(channel.replace(/^#/, ""))}`;
}

/**
 * `muster tail`: prints the last messages of a channel and then each new one, until it is
 * interrupted. If the server goes away, it waits and then continues where it was.
 */
async function tail(
  channel: string,
  options: CommandOptions & { readonly lines?: number },
): Promise<void> {
  const client = await ApiClient.connect(options);
  const path = channelPath(channel);
  const lines = options.lines ?? 0;
  const recent = await client.call(
    "GET",
    `${path}/messages?limit=${Math.max(lines, 1)}`,
    z.array(messageSchema),
  );
  let last = recent.at(-1)?.timestamp;
  for (const message of lines === 0 ? [] : recent) printMessage(message, options);
  const stream = () =>
    `${path}/stream${last === undefined ? "" : `?since=${encodeURIComponent(last)}`}`;
  await followStream(client, stream, (data) => {
    const message = messageSchema.parse(data);
    last = message.timestamp;
    printMessage(message, options);
  });
}

function printMessage(message: Message, { json }: CommandOptions): void {
  if (json === true) return printJsonLine(message);
  const time = new Date(message.timestamp).toLocaleTimeString("en-GB");
  print(`${time} <${visible(message.nick)}> ${visible(message.text)}`);
}

/** `muster tail`: follows a channel. */
export const TAIL: Leaf = {
  parameters: [{ usage: "<channel>" }],
  options: [
    {
      flags: "-n, --lines <count>",
      summary: "earlier messages to print first",
      parse: checkCount,
      default: 10,
    },
    { ...JSON_OPTION, summary: "print one JSON object per message" },
    URL_OPTION,
  ],
  examples: [{ line: "tail '#general' -n 50", purpose: "Follow a channel" }],
  run: tail,
};
