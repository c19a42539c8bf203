import { z } from "zod";
import { ApiClient, Unreachable } from "./client.ts";
import type { Leaf } from "./command_line/mod.ts";
import { checkCount, type CommandOptions, JSON_OPTION, URL_OPTION } from "./options.ts";
import { CommandFailed, print, printError, printJsonLine, visible } from "./output.ts";

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

/** Pause before another attempt, in milliseconds. */
const RETRY_DELAY = 2000;

/** Longest event, in characters. */
const MAX_EVENT = 4_194_304;

/**
 * Reads an event stream of the API forever. If the server goes away, it waits and reconnects.
 *
 * @param path returns the stream's path before each connection, so that it can name the last event
 * @param take receives the data of each event
 * @throws CommandFailed if the server refuses
 */
export async function followStream(
  client: ApiClient,
  path: () => string,
  take: (data: unknown) => void,
): Promise<never> {
  for (;;) {
    try {
      for await (const data of readStream(client, path())) take(data);
    } catch (error) {
      if (!(error instanceof Unreachable) && !(error instanceof TypeError)) throw error;
      printError(error instanceof Unreachable ? error.message : "The stream broke off");
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_DELAY));
  }
}

async function* readStream(client: ApiClient, path: string): AsyncGenerator<unknown> {
  const response = await client.openStream(path);
  let rest = "";
  for await (const text of response.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > MAX_EVENT) {
      throw new CommandFailed("The server sent an event that is too long");
    }
    for (const line of lines) {
      if (line.startsWith("data: ")) yield JSON.parse(line.slice("data: ".length));
    }
  }
}
