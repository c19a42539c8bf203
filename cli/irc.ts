import { z } from "zod";
import { ApiClient } from "./client.ts";
import { parseDuration } from "../services/engines/irc/mod.ts";
import { type Command, type Group, InvalidValue } from "./command_line/mod.ts";
import { type CommandOptions, JSON_OPTION, URL_OPTION } from "./options.ts";
import { print, printJson, table } from "./output.ts";

interface BanOptions extends CommandOptions {
  readonly reason?: string;
  /** Milliseconds. */
  readonly for?: number;
}

const banSchema = z.object({
  id: z.string(),
  mask: z.string(),
  reason: z.string(),
  set_by: z.string(),
  created_at: z.string(),
  expires_at: z.string().nullable(),
});

const clientSchema = z.object({
  nick: z.string().nullable(),
  account: z.string().nullable(),
  address: z.string(),
  host: z.string(),
  transport: z.string(),
  connected_at: z.string(),
  idle_seconds: z.number(),
  operator: z.boolean(),
  channels: z.number(),
  queued_bytes: z.number(),
});

/** `muster client list`. */
async function listClients(options: CommandOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  const clients = await client.call("GET", "/v1/irc/clients", z.array(clientSchema));
  if (options.json === true) return printJson(clients);
  const rows = clients.map((one) => [
    `${one.operator ? "*" : ""}${one.nick ?? "(connecting)"}`,
    one.account ?? "",
    one.address,
    one.transport,
    one.connected_at,
    `${one.idle_seconds} s`,
    String(one.channels),
    String(one.queued_bytes),
  ]);
  const titles = ["NICK", "ACCOUNT", "ADDRESS", "TRANSPORT", "SINCE", "IDLE", "CHANNELS", "QUEUED"];
  print(table(titles, rows));
}

/** `muster ban add`. */
async function addBan(
  mask: string,
  { reason = "", for: duration, ...options }: BanOptions,
): Promise<void> {
  const client = await ApiClient.connect(options);
  const made = await client.call("POST", "/v1/irc/bans", banSchema, {
    mask,
    reason,
    duration_seconds: duration === undefined ? null : Math.ceil(duration / 1000),
  });
  if (options.json === true) return printJson(made);
  print(`${made.mask} is banned until ${made.expires_at ?? "the ban is removed"}`);
}

/** `muster ban remove`: removes a ban by its mask or id. */
async function removeBan(mask: string, options: CommandOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  await client.call("DELETE", `/v1/irc/bans/${encodeURIComponent(mask)}`, z.undefined());
}

/** `muster ban list`. */
async function listBans(options: CommandOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  const bans = await client.call("GET", "/v1/irc/bans", z.array(banSchema));
  if (options.json === true) return printJson(bans);
  const rows = bans.map((one) => [
    one.mask,
    one.set_by,
    one.created_at,
    one.expires_at ?? "never",
    one.reason,
  ]);
  print(table(["MASK", "SET BY", "SINCE", "EXPIRES", "REASON"], rows));
}

/** Parses a length of time such as `90m` or `1d12h`, to milliseconds. */
function checkDuration(text: string): number {
  const milliseconds = parseDuration(text);
  if (milliseconds !== null) return milliseconds;
  throw new InvalidValue("be a time such as 30m, 12h or 7d");
}

const ADD_BAN: Command = {
  name: "add",
  summary: "ban a mask from the server; matching sessions end at once",
  parameters: [{ usage: "<mask>" }],
  options: [
    { flags: "--reason <text>", summary: "the reason that the banned person sees" },
    {
      flags: "--for <time>",
      summary: "duration such as 30m, 12h or 7d (default: until the ban is removed)",
      parse: checkDuration,
    },
    JSON_OPTION,
    URL_OPTION,
  ],
  notes: [
    "A mask is user@host, nick!user@host, an address, a network such as 192.0.2.0/24, or " +
    "account:name.",
  ],
  run: addBan,
};

const LIST_BANS: Command = {
  name: "list",
  summary: "list the bans",
  options: [JSON_OPTION, URL_OPTION],
  run: listBans,
};

const REMOVE_BAN: Command = {
  name: "remove",
  aliases: ["delete"],
  summary: "remove a ban, by its mask or its id",
  parameters: [{ usage: "<mask>" }],
  options: [URL_OPTION],
  run: removeBan,
};

const LIST_CLIENTS: Command = {
  name: "list",
  summary: "list the connected clients",
  options: [JSON_OPTION, URL_OPTION],
  run: listClients,
};

/** `muster ban`: bans from the IRC server. */
export const BAN: Group = {
  commands: [ADD_BAN, LIST_BANS, REMOVE_BAN],
  examples: [
    { line: "ban add 192.0.2.0/24 --for 12h", purpose: "Ban a network for half a day" },
    { line: "ban add account:ann --reason Spam", purpose: "Ban an account" },
    { line: "ban remove 192.0.2.0/24", purpose: "Remove the network's ban" },
  ],
};

/** `muster client`: connections to the IRC server. */
export const CLIENT: Group = { commands: [LIST_CLIENTS] };

/** `muster irc`: the names that bans and clients had in version 0.1. */
export const IRC: Group = {
  commands: [
    { ...LIST_CLIENTS, name: "clients" },
    { ...ADD_BAN, name: "ban" },
    { ...REMOVE_BAN, name: "unban" },
    LIST_BANS,
  ],
};
