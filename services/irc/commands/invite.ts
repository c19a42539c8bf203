import { Cap } from "../protocol/capabilities.ts";
import type { CommandCall } from "../command.ts";
import { ChannelFlag } from "../channels/modes.ts";
import {
  ERR_CHANOPRIVSNEEDED,
  ERR_NEEDMOREPARAMS,
  ERR_NOSUCHCHANNEL,
  ERR_NOSUCHNICK,
  ERR_NOTONCHANNEL,
  ERR_USERONCHANNEL,
  RPL_AWAY,
  RPL_ENDOFINVITATIONS,
  RPL_INVITATION,
  RPL_INVITING,
} from "../protocol/numerics.ts";

/**
 * INVITE nick channel. Every member may invite, except to an invite-only channel. Without
 * parameters, lists the channels that the client is invited to.
 */
export function invite(call: CommandCall): void {
  const { state, client, command, params, reply } = call;
  if (params.length === 0) return sendInvitations(call);
  const [nick, name] = params;
  if (nick === undefined || name === undefined) return reply.numeric(ERR_NEEDMOREPARAMS, command);
  const target = state.findClient(nick);
  if (!target) return reply.numeric(ERR_NOSUCHNICK, nick);
  const channel = state.findChannel(name);
  if (!channel || channel.isHiddenFrom(client)) return reply.numeric(ERR_NOSUCHCHANNEL, name);
  if (!client.privileged) {
    if (!channel.members.has(client)) return reply.numeric(ERR_NOTONCHANNEL, channel.name);
    if (channel.has(ChannelFlag.INVITE_ONLY) && !channel.isOperator(client)) {
      return reply.numeric(ERR_CHANOPRIVSNEEDED, channel.name);
    }
  }
  if (channel.members.has(target)) {
    return reply.numeric(ERR_USERONCHANNEL, target.nick, channel.name);
  }
  channel.invite(target);
  const message = state.messageFrom(client, "INVITE", { params: [target.nick, channel.name] });
  target.send(message);
  for (const member of channel.listeners) {
    if (member === client || !channel.isOperator(member)) continue;
    if (member.hasCapability(Cap.INVITE_NOTIFY)) member.send(message);
  }
  reply.numeric(RPL_INVITING, target.nick, channel.name);
  if (target.away !== null) reply.numericText(RPL_AWAY, [target.nick], target.away);
}

function sendInvitations({ state, client, reply }: CommandCall): void {
  for (const channel of state.channels.values()) {
    if (channel.holdsInvitation(client)) reply.numeric(RPL_INVITATION, channel.name);
  }
  reply.numeric(RPL_ENDOFINVITATIONS);
}
