import { z } from "zod";
import { Conflict, NotFound, Unavailable } from "../../kernel/errors.ts";
import {
  Created,
  SerializedJson,
  serverOperation,
} from "../../people/identity/server_operation.ts";
import type { ConnectedClient } from "../../engines/irc/mod.ts";
import { writeArray } from "../../kernel/pieces.ts";
import type { IrcBans } from "./bans/mod.ts";
import { banRequestSchema } from "./bans/schemas.ts";

/** What the operations on the IRC server call. Both are null if it is not part of this program. */
interface IrcServices {
  readonly ircBans: IrcBans | null;
  readonly ircServer: { clients(): readonly ConnectedClient[] } | null;
}

const banSchema = z.object({
  id: z.string(),
  mask: z.string(),
  reason: z.string(),
  set_by: z.string().meta({ example: "operator" }),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime().nullable(),
}).meta({ id: "IrcBan" });

const clientSchema = z.object({
  nick: z.string().nullable().meta({ description: "null before registration" }),
  account: z.string().nullable(),
  address: z.string(),
  host: z.string().meta({ description: "The host that other users see instead of the address" }),
  transport: z.enum(["tcp", "tls", "websocket", "internal"]),
  connected_at: z.iso.datetime(),
  idle_seconds: z.int(),
  operator: z.boolean().meta({ description: "Whether it is an IRC operator" }),
  channels: z.int().meta({ description: "Number of joined channels" }),
  queued_bytes: z.int().meta({ description: "Bytes waiting to be sent" }),
}).meta({ id: "IrcClient" });

const unknown = { error: NotFound };

export const listIrcBans = serverOperation(
  {
    http: "GET /v1/irc/bans",
    on: "server",
    summary: "List the bans from the IRC server",
    input: z.object({}),
    ok: { schema: z.array(banSchema), description: "The bans, oldest first" },
    refusals: [unknown],
    cli: {
      at: "ban list",
      about: "list the bans",
      columns: ["mask", "set_by", "SINCE: {created_at}", 'EXPIRES: {expires_at|"never"}', "reason"],
    },
  },
  async ({ ircBans }: IrcServices) =>
    new SerializedJson(await writeArray(present(ircBans).list(), JSON.stringify)),
);

export const createIrcBan = serverOperation(
  {
    http: "POST /v1/irc/bans",
    on: "server",
    whileFull: true,
    summary: "Ban a mask from the IRC server, or change its ban",
    input: banRequestSchema,
    bodyName: "IrcBanRequest",
    example: { mask: "192.0.2.0/24", reason: "flooding", duration_seconds: 3600 },
    created: { schema: banSchema, description: "The ban; matching sessions have ended" },
    refusals: [unknown, { error: Conflict }, { error: Unavailable }],
  },
  async ({ ircBans }: IrcServices, request, { caller }) =>
    new Created(await present(ircBans).create(request, caller)),
);

export const deleteIrcBan = serverOperation({
  http: "DELETE /v1/irc/bans/{ban}",
  on: "server",
  summary: "Remove a ban",
  input: z.object({ ban: z.string().meta({ description: "Its id or its mask" }) }),
  done: "Removed",
  refusals: [unknown],
  cli: {
    at: "ban remove <mask:ban>",
    about: "remove a ban, by its mask or its id",
    aliases: ["delete"],
    examples: [{ line: "ban remove 192.0.2.0/24", purpose: "Remove the network's ban" }],
  },
}, ({ ircBans }: IrcServices, { ban }, { caller }) => present(ircBans).delete(ban, caller));

export const listIrcClients = serverOperation({
  http: "GET /v1/irc/clients",
  on: "server",
  summary: "List the clients of the IRC server",
  input: z.object({}),
  ok: { schema: z.array(clientSchema), description: "The connections, oldest first" },
  refusals: [unknown],
  cli: {
    at: "client list",
    about: "list the connected clients",
    columns: [
      'NICK: {operator?*}{nick|"(connecting)"}',
      "account",
      "address",
      "transport",
      "SINCE: {connected_at}",
      "IDLE: {idle_seconds} s",
      "channels",
      "QUEUED: {queued_bytes}",
    ],
  },
}, ({ ircServer }: IrcServices) => {
  const now = Date.now();
  return present(ircServer).clients().map((one) => describe(one, now));
});

/** @throws NotFound */
function present<Part>(part: Part | null): Part {
  if (part !== null) return part;
  throw new NotFound("The IRC server runs elsewhere: irc.mode is external");
}

function describe(client: ConnectedClient, now: number): z.infer<typeof clientSchema> {
  const { nick, account, address, host, transport, operator, channels } = client;
  return {
    nick,
    account,
    address,
    host,
    operator,
    channels,
    transport: transport === "none" ? "internal" : transport,
    connected_at: new Date(client.connectedAt).toISOString(),
    idle_seconds: Math.max(0, Math.floor((now - client.lastActiveAt) / 1000)),
    queued_bytes: client.queuedBytes,
  };
}
