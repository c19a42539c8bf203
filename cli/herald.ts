/** `muster herald`: what the bot herald announces, and the programs whose webhooks it takes. */
import { z } from "zod";
import { ApiClient } from "./client.ts";
import type { Group } from "./command_line/mod.ts";
import { type CommandOptions, JSON_OPTION, URL_OPTION } from "./options.ts";
import { print, printFields, printJson, table } from "./output.ts";

const PATH = "/v1/herald";
const SOURCES = `${PATH}/sources`;

interface AnnounceOptions extends CommandOptions {
  readonly type?: string;
  readonly channel?: string;
}

const acceptedSchema = z.looseObject({ channel: z.string() });
const sourceSchema = z.looseObject({ name: z.string(), kind: z.string() });
const issuedSchema = sourceSchema.extend({ path: z.string(), secret: z.string() });

/** `muster herald announce`. */
async function announce(words: readonly string[], options: AnnounceOptions): Promise<void> {
  const { type, channel, ...rest } = options;
  const client = await ApiClient.connect(rest);
  const notice = { text: words.join(" "), type, channel };
  const accepted = await client.call("POST", PATH, acceptedSchema, notice);
  if (options.json === true) return printJson(accepted);
  print(`herald announces it in ${accepted.channel}`);
}

/** `muster herald add`: the secret is printed once. */
async function addSource(name: string, kind: string, options: CommandOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  const source = await client.call("POST", SOURCES, issuedSchema, { name, kind });
  if (options.json === true) return printJson(source);
  printFields([
    ["path", source.path],
    ["secret", source.secret],
  ]);
  print("");
  print("The secret is shown only once. Enter it at the program, with whsec_, as the secret of a");
  print(
    "webhook to the path behind your server's address, with the content type application/json.",
  );
}

/** `muster herald list`. */
async function listSources(options: CommandOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  const sources = await client.call("GET", SOURCES, z.array(sourceSchema));
  if (options.json === true) return printJson(sources);
  const rows = sources.map(({ name, kind }) => [name, kind, `/webhooks/${name}`]);
  print(table(["NAME", "KIND", "PATH"], rows));
}

/** `muster herald remove`. */
async function removeSource(name: string, options: CommandOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  await client.call("DELETE", `${SOURCES}/${encodeURIComponent(name)}`, z.undefined());
}

/** The commands of `muster herald`. */
export const HERALD: Group = {
  commands: [
    {
      name: "announce",
      summary: "announce an event in a channel",
      parameters: [{ usage: "<text...>" }],
      options: [
        {
          flags: "--type <type>",
          summary: "what happened, such as deploy.failed; it decides the channel",
        },
        { flags: "--channel <channel>", summary: "in place of the channel of the type" },
        JSON_OPTION,
        URL_OPTION,
      ],
      run: announce,
    },
    {
      name: "add",
      summary: "take a program's webhooks, and print the secret once",
      parameters: [{ usage: "<name>" }, { usage: "<kind>" }],
      options: [JSON_OPTION, URL_OPTION],
      notes: [
        "The kind is github, forgejo (also for Gitea), gitlab or standard (Standard Webhooks).",
      ],
      run: addSource,
    },
    {
      name: "list",
      summary: "list the programs whose webhooks it takes",
      options: [JSON_OPTION, URL_OPTION],
      run: listSources,
    },
    {
      name: "remove",
      aliases: ["delete"],
      summary: "take no more webhooks of a program",
      parameters: [{ usage: "<name>" }],
      options: [URL_OPTION],
      run: removeSource,
    },
  ],
  examples: [
    {
      line: "herald announce --type deploy.failed 'Deploy 42 failed'",
      purpose: "Tell a channel of a deploy",
    },
    { line: "herald add code github", purpose: "Announce what happens at GitHub" },
  ],
};
