import { z } from "zod";
import { ApiClient } from "./client.ts";
import type { Group } from "./command_line/mod.ts";
import { checkCount, type CommandOptions, JSON_OPTION, URL_OPTION } from "./options.ts";
import { print, printFields, printJson, visible } from "./output.ts";
import { channelPath } from "./tail.ts";

const messageSchema = z.looseObject({
  nick: z.string(),
  text: z.string(),
  timestamp: z.string(),
});

/** `muster channel show`: the members and last messages of a channel. */
async function showChannel(
  channel: string,
  { lines = 0, ...options }: CommandOptions & { readonly lines?: number },
): Promise<void> {
  const client = await ApiClient.connect(options);
  const path = channelPath(channel);
  const users = await client.call("GET", `${path}/users`, z.array(z.string()));
  const messages = lines === 0 ? [] : await client.call(
    "GET",
    `${path}/messages?limit=${lines}`,
    z.array(messageSchema),
  );
  const name = `#${channel.replace(/^#/, "")}`;
  if (options.json === true) return printJson({ channel: name, users, messages });
  printFields([["channel", name], ["users", users.join(" ")]]);
  if (messages.length > 0) print();
  for (const { nick, text, timestamp } of messages) {
    print(`${timestamp.slice(0, 16).replace("T", " ")} <${visible(nick)}> ${visible(text)}`);
  }
}

const CHANNEL_PARAMETER = { usage: "<channel>" };

/** `muster channel`: the channels that the bridge is in. */
export const CHANNEL: Group = {
  commands: [
    {
      name: "show",
      summary: "show the members and the last messages of a channel",
      parameters: [CHANNEL_PARAMETER],
      options: [
        {
          flags: "-n, --lines <count>",
          summary: "messages to show",
          parse: checkCount,
          default: 5,
        },
        JSON_OPTION,
        URL_OPTION,
      ],
      run: showChannel,
    },
  ],
  examples: [
    { line: "channel list", purpose: "List the channels" },
    { line: "channel show '#general' -n 20", purpose: "Show the members and the last 20 messages" },
  ],
  notes: ["A channel's name may be written with or without #."],
};
