import { z } from "zod";
import { ApiClient, Unreachable } from "./client.ts";
import type { CommandOptions } from "./mod.ts";
import { CommandFailed, print, printError, visible } from "./output.ts";

/** How long to wait before another try, in milliseconds. */
const RETRY_DELAY = 2000;

/** The longest event that is taken, in characters. */
const MAX_EVENT = 1_048_576;

const messageSchema = z.object({ nick: z.string(), text: z.string(), timestamp: z.string() });

type Message = z.infer<typeof messageSchema>;

/** The path of a channel in the API; its name may be written with or without `#`. */
export function channelPath(channel: string): string {
  return `/v1/channels/${encodeURIComponent(channel.replace(/^#/, ""))}`;
}

/**
 * `muster tail`: prints the last messages of a channel and then each new one, until it is
 * interrupted. Where the server goes away, it waits and takes up where it was.
 */
export async function tail(channel: string, options: CommandOptions): Promise<void> {
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
  for (;;) {
    try {
      for await (const message of follow(client, path, last)) {
        last = message.timestamp;
        printMessage(message, options);
      }
    } catch (error) {
      if (!(error instanceof Unreachable) && !(error instanceof TypeError)) throw error;
      printError(error instanceof Unreachable ? error.message : "The stream broke off");
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_DELAY));
  }
}

async function* follow(
  client: ApiClient,
  path: string,
  since: string | undefined,
): AsyncGenerator<Message> {
  const query = since === undefined ? "" : `?since=${encodeURIComponent(since)}`;
  const response = await client.request(
    "GET",
    `${path}/stream${query}`,
    new AbortController().signal,
  );
  if (!response.ok || response.body === null) {
    await response.body?.cancel();
    const message = `The server answered ${response.status}`;
    throw response.status >= 500 ? new Unreachable(message) : new CommandFailed(message);
  }
  let rest = "";
  for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > MAX_EVENT) throw new CommandFailed("The server sent too long an event");
    for (const line of lines) {
      if (line.startsWith("data: ")) yield messageSchema.parse(JSON.parse(line.slice(6)));
    }
  }
}

function printMessage(message: Message, { json }: CommandOptions): void {
  if (json === true) return print(JSON.stringify(message));
  const time = new Date(message.timestamp).toLocaleTimeString("en-GB");
  print(`${time} <${visible(message.nick)}> ${visible(message.text)}`);
}
