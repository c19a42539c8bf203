import { z } from "zod";
import { ApiClient } from "./client.ts";
import type { CommandOptions } from "./options.ts";
import { print, table } from "./output.ts";

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

/** `muster irc clients`. */
export async function listClients(options: CommandOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  const clients = await client.call("GET", "/v1/irc/clients", z.array(clientSchema));
  if (options.json === true) return print(JSON.stringify(clients, null, 2));
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

/** `muster irc ban`. */
export async function ban(
  mask: string,
  { reason = "", for: duration, ...options }: CommandOptions,
): Promise<void> {
  const client = await ApiClient.connect(options);
  const made = await client.call("POST", "/v1/irc/bans", banSchema, {
    mask,
    reason,
    duration_seconds: duration === undefined ? null : Math.ceil(duration / 1000),
  });
  if (options.json === true) return print(JSON.stringify(made, null, 2));
  print(`${made.mask} is banned until ${made.expires_at ?? "it is taken away"}`);
}

/** `muster irc unban`: takes away the ban of this mask or id. */
export async function unban(mask: string, options: CommandOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  await client.call("DELETE", `/v1/irc/bans/${encodeURIComponent(mask)}`, z.undefined());
}

/** `muster irc list`. */
export async function listBans(options: CommandOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  const bans = await client.call("GET", "/v1/irc/bans", z.array(banSchema));
  if (options.json === true) return print(JSON.stringify(bans, null, 2));
  const rows = bans.map((one) => [
    one.mask,
    one.set_by,
    one.created_at,
    one.expires_at ?? "never",
    one.reason,
  ]);
  print(table(["MASK", "SET BY", "SINCE", "EXPIRES", "REASON"], rows));
}
