import { z } from "../extended_zod.ts";
import { NotFound } from "../../services/errors.ts";
import type { ConnectedClient } from "../../services/irc/mod.ts";
import type { IrcBans } from "../../services/irc_server/bans/mod.ts";
import { banRequestSchema } from "../../services/irc_server/bans/schemas.ts";
import { newRoutes } from "../context.ts";
import { callerOf } from "../caller.ts";
import { jsonArray } from "../json_text.ts";
import { route } from "../route.ts";
import { errors, json, jsonRequest } from "../schemas.ts";

const banSchema = z.object({
  id: z.string(),
  mask: z.string(),
  reason: z.string(),
  set_by: z.string().openapi({ example: "operator" }),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime().nullable(),
}).openapi("IrcBan");

const clientSchema = z.object({
  nick: z.string().nullable().openapi({ description: "null before registration" }),
  account: z.string().nullable(),
  address: z.string(),
  host: z.string().openapi({ description: "The host that other users see instead of the address" }),
  transport: z.enum(["tcp", "tls", "websocket", "internal"]),
  connected_at: z.iso.datetime(),
  idle_seconds: z.int(),
  operator: z.boolean().openapi({ description: "Whether it is an IRC operator" }),
  channels: z.int().openapi({ description: "Number of joined channels" }),
  queued_bytes: z.int().openapi({ description: "Bytes waiting to be sent" }),
}).openapi("IrcClient");

const listBans = route("GET /v1/irc/bans", {
  summary: "List the bans from the IRC server",
  responses: { 200: json(z.array(banSchema), "The bans, oldest first"), ...errors(404) },
});

const createBan = route("POST /v1/irc/bans", {
  summary: "Ban a mask from the IRC server, or change its ban",
  request: {
    body: jsonRequest(banRequestSchema.meta({ id: "IrcBanRequest" }), {
      mask: "192.0.2.0/24",
      reason: "flooding",
      duration_seconds: 3600,
    }),
  },
  responses: {
    201: json(banSchema, "The ban; matching sessions have ended"),
    ...errors(400, 404, 409, 413, 503),
  },
});

const deleteBan = route("DELETE /v1/irc/bans/{ban}", {
  summary: "Remove a ban",
  request: {
    params: z.object({ ban: z.string().openapi({ description: "Its id or its mask" }) }),
  },
  responses: { 204: { description: "Removed" }, ...errors(404, 503) },
});

const listClients = route("GET /v1/irc/clients", {
  summary: "List the clients of the IRC server",
  responses: {
    200: json(z.array(clientSchema), "The connections, oldest first"),
    ...errors(404),
  },
});

export interface IrcRoutesOptions {
  /** Null if the IRC server is not part of this program. */
  readonly ircBans: IrcBans | null;
  readonly ircServer: { clients(): readonly ConnectedClient[] } | null;
}

/** `/v1/irc/bans` and `/v1/irc/clients`: the IRC server of this program. */
export function ircRoutes({ ircBans, ircServer }: IrcRoutesOptions) {
  return newRoutes()
    .openapi(listBans, (context) => jsonArray(context, present(ircBans).list()))
    .openapi(createBan, async (context) => {
      const request = context.req.valid("json");
      return context.json(await present(ircBans).create(request, callerOf(context)), 201);
    })
    .openapi(deleteBan, async (context) => {
      const { ban } = context.req.valid("param");
      await present(ircBans).delete(ban, callerOf(context));
      return context.body(null, 204);
    })
    .openapi(listClients, (context) => {
      const now = Date.now();
      return context.json(present(ircServer).clients().map((one) => describe(one, now)), 200);
    });
}

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
