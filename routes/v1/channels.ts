import { nickSchema } from "../../services/messages/schemas.ts";
import { z } from "../extended_zod.ts";
import type { Agents } from "../../services/agents/mod.ts";
import type { Bridge } from "../../services/bridge/mod.ts";
import { newRoutes } from "../context.ts";
import { callerOf } from "../caller.ts";
import { route } from "../route.ts";
import { errors, json, jsonRequest } from "../schemas.ts";
import {
  channelMessageRoutes,
  type ChannelMessageRoutesOptions,
  channelParams,
} from "./channel_messages.ts";

export interface ChannelRoutesOptions extends Omit<ChannelMessageRoutesOptions, "bridge"> {
  readonly bridge: Bridge;
  readonly agents: Pick<Agents, "touchNick">;
}

const presenceSchema = z.object({ nick: nickSchema }).openapi("Presence");

const listChannels = route("GET /v1/channels", {
  summary: "List the bridge's channels",
  responses: { 200: json(z.array(z.string()), "Names with #, sorted"), ...errors(404, 503) },
});

const joinChannel = route("POST /v1/channels/{channel}/join", {
  summary: "Have the bridge join a channel",
  request: { params: channelParams },
  responses: {
    204: { description: "Joined" },
    ...errors(400, 404, 409, 429, 503, 504),
  },
});

const partChannel = route("DELETE /v1/channels/{channel}", {
  summary: "Have the bridge leave a channel",
  request: { params: channelParams },
  responses: { 204: { description: "Left" }, ...errors(400, 404, 503, 504) },
});

const refreshPresence = route("POST /v1/channels/{channel}/presence", {
  summary: "Announce presence in a channel over HTTP",
  request: { params: channelParams, body: jsonRequest(presenceSchema, { nick: "ann" }) },
  responses: { 204: { description: "Noted" }, ...errors(400, 404) },
});

const listUsers = route("GET /v1/channels/{channel}/users", {
  summary: "List the users in a channel",
  request: { params: channelParams },
  responses: { 200: json(z.array(z.string()), "Nicks, sorted"), ...errors(400, 404, 503) },
});

/** `/v1/channels…` */
export function channelRoutes(options: ChannelRoutesOptions) {
  const { bridge, agents } = options;
  return newRoutes()
    .openapi(listChannels, async (context) => {
      await bridge.whenReady();
      return context.json(bridge.channels(callerOf(context)), 200);
    })
    .openapi(joinChannel, async (context) => {
      await bridge.join(context.req.valid("param").channel, callerOf(context));
      return context.body(null, 204);
    })
    .openapi(partChannel, async (context) => {
      await bridge.part(context.req.valid("param").channel, callerOf(context));
      return context.body(null, 204);
    })
    .route("/", channelMessageRoutes(options))
    .openapi(refreshPresence, async (context) => {
      const { nick } = context.req.valid("json");
      await bridge.presence(context.req.valid("param").channel, nick, callerOf(context));
      agents.touchNick(nick);
      return context.body(null, 204);
    })
    .openapi(listUsers, async (context) => {
      return context.json(
        await bridge.users(context.req.valid("param").channel, callerOf(context)),
        200,
      );
    });
}
