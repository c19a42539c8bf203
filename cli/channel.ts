import { z } from "zod";
import { ApiClient } from "./client.ts";
import type { Group, Leaf } from "./command_line/mod.ts";
import { checkCount, type CommandOptions, JSON_OPTION, URL_OPTION } from "./options.ts";
import { print, printFields, printJson, visible } from "./output.ts";
import { channelPath } from "./tail.ts";

const messageSchema = z.looseObject({
  nick: z.string(),
  text: z.string(),
  timestamp: z.string(),
});

/** `muster channel list`: the channels that the bridge is in. */
async function listChannels(options: CommandOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  const channels = await client.call("GET", "/v1/channels", z.array(z.string()));
  if (options.json === true) return printJson(channels);
  for (const channel of channels) print(visible(channel));
}

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
      name: "list",
      summary: "list the channels that the bridge is in",
      options: [JSON_OPTION, URL_OPTION],
      run: listChannels,
    },
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
