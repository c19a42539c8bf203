import type { Channel } from "../channels/channel.ts";
import type { Client } from "../client.ts";
import type { CommandCall } from "../command.ts";
import { LISTED_TARGETS } from "../isupport.ts";
import {
  ERR_CHANOPRIVSNEEDED,
  ERR_NEEDMOREPARAMS,
  ERR_NOSUCHCHANNEL,
  ERR_NOTONCHANNEL,
  ERR_TOOMANYTARGETS,
  ERR_USERNOTINCHANNEL,
} from "../protocol/numerics.ts";
import { truncate } from "../protocol/text.ts";

/** KICK channel nick{,nick} [reason], or one channel for each nick. */
export function kick(call: CommandCall): void {
  const { command, params, reply } = call;
  const channels = (params[0] ?? "").split(",");
  const nicks = (params[1] ?? "").split(",");
  const tooMany = nicks[LISTED_TARGETS];
  if (tooMany !== undefined) return reply.numeric(ERR_TOOMANYTARGETS, tooMany);
  if (channels.length !== 1 && channels.length !== nicks.length) {
    return reply.numeric(ERR_NEEDMOREPARAMS, command);
  }
  for (const [index, nick] of nicks.entries()) {
    kickOne(call, channels[channels.length === 1 ? 0 : index] ?? "", nick);
  }
}

function kickOne(call: CommandCall, name: string, nick: string): void {
  const { state, client, reply } = call;
  const channel = state.findChannel(name);
  if (!channel?.isVisibleTo(client)) return reply.numeric(ERR_NOSUCHCHANNEL, name);
  if (!client.privileged) {
    if (!channel.members.has(client)) return reply.numeric(ERR_NOTONCHANNEL, channel.name);
    if (!channel.isOperator(client)) return reply.numeric(ERR_CHANOPRIVSNEEDED, channel.name);
  }
  const target = state.findClient(nick);
  if (!target || !channel.members.has(target)) {
    return reply.numeric(ERR_USERNOTINCHANNEL, nick, channel.name);
  }
  if (target.privileged) {
    const text = "This client belongs to the server and cannot be kicked";
    return reply.numericText(ERR_CHANOPRIVSNEEDED, [channel.name], text);
  }
  remove(call, channel, target);
}

function remove(call: CommandCall, channel: Channel, target: Client): void {
  const { state, client, params, reply } = call;
  const reason = truncate(params[2] || client.nick, state.limits.reasonBytes);
  const content = { params: [channel.name, target.nick], text: reason };
  const message = state.messageFrom(client, "KICK", content);
  state.tellChannel(channel, message, client, reply);
  if (!channel.members.has(client)) reply.message(message);
  state.leave(target, channel);
  const event = { actor: client.actor, channel: channel.name, nick: target.nick, reason };
  state.observe((observer) => observer.kicked?.(event));
}
