import { z } from "zod";
import { ApiClient } from "./client.ts";
import type { Leaf } from "./command_line/mod.ts";
import { type CommandOptions, URL_OPTION } from "./options.ts";
import { channelPath } from "./tail.ts";

/** `muster send`: posts a message to a channel. */
async function send(
  channel: string,
  words: readonly string[],
  options: CommandOptions & { readonly nick?: string },
): Promise<void> {
  const text = words.join(" ");
  const client = await ApiClient.connect(options);
  const message = options.nick === undefined ? { text } : { nick: options.nick, text };
  await client.call("POST", `${channelPath(channel)}/messages`, z.undefined(), message);
}

/** `muster send`: posts a message. */
export const SEND: Leaf = {
  parameters: [{ usage: "<channel>" }, { usage: "<text...>" }],
  options: [
    { flags: "--nick <nick>", summary: "the speaker's name (default: the bridge)" },
    URL_OPTION,
  ],
  examples: [
    { line: "send '#general' --nick ann 'Good morning'", purpose: "Post under a name" },
    { line: "send general -- --help is an option", purpose: "Post a text that begins with a dash" },
  ],
  run: send,
};
