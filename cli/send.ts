import { z } from "zod";
import { ApiClient } from "./client.ts";
import type { CommandOptions } from "./options.ts";
import { channelPath } from "./tail.ts";

/** `muster send`: posts a message to a channel. */
export async function send(channel: string, text: string, options: CommandOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  const message = options.nick === undefined ? { text } : { nick: options.nick, text };
  await client.call("POST", `${channelPath(channel)}/messages`, z.undefined(), message);
}
