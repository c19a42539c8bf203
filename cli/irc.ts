import { z } from "zod";
import { ApiClient } from "./client.ts";
import { parseDuration } from "../services/engines/irc/mod.ts";
import { type Command, type Group, InvalidValue } from "./command_line/mod.ts";
import { operationCommand } from "./operations.ts";
import { type CommandOptions, JSON_OPTION, URL_OPTION } from "./options.ts";
import { print, printJson } from "./output.ts";

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

/** `muster ban`: bans from the IRC server. */
export const BAN: Group = {
  commands: [ADD_BAN],
  examples: [
    { line: "ban add 192.0.2.0/24 --for 12h", purpose: "Ban a network for half a day" },
    { line: "ban add account:ann --reason Spam", purpose: "Ban an account" },
  ],
};

/** `muster irc`: the names that bans and clients had in version 0.1. */
export const IRC: Group = {
  commands: [
    { ...operationCommand("client list"), name: "clients" },
    { ...ADD_BAN, name: "ban" },
    { ...operationCommand("ban remove"), name: "unban" },
    operationCommand("ban list"),
  ],
};
