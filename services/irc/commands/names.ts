import { Cap } from "../capabilities.ts";
import type { Channel } from "../channel.ts";
import type { CommandCall } from "../command.ts";
import { ChannelFlag, statusPrefix } from "../modes.ts";
import { RPL_ENDOFNAMES, RPL_NAMREPLY } from "../numerics.ts";

/** Characters of names in one 353, which leaves room for the rest of a classic line. */
const NAMES_LENGTH = 380;

/** NAMES [channel{,channel}]. For a channel that must not be seen, and without one: only the end. */
export function names(call: CommandCall): void {
  const { state, client, params, reply } = call;
  const asked = params[0] || "*";
  for (const name of asked.split(",")) {
    const channel = state.findChannel(name);
    if (channel?.isVisibleTo(client)) sendNames(call, channel);
  }
  reply.numeric(RPL_ENDOFNAMES, asked);
}

/** 353 for those members that the client may see, without the end. */
export function sendNames({ client, reply }: CommandCall, channel: Channel): void {
  const all = client.hasCapability(Cap.MULTI_PREFIX);
  const withHost = client.hasCapability(Cap.USERHOST_IN_NAMES);
  const inside = channel.members.has(client) || client.isOperator;
  const params = [channel.has(ChannelFlag.SECRET) ? "@" : "=", channel.name];
  let line = "";
  for (const [member, status] of channel.members) {
    if (!inside && member.isInvisible) continue;
    const entry = statusPrefix(status, all) + (withHost ? member.mask : member.nick);
    if (line !== "" && line.length + entry.length >= NAMES_LENGTH) {
      reply.numericText(RPL_NAMREPLY, params, line);
      line = "";
    }
    line += line === "" ? entry : ` ${entry}`;
  }
  if (line !== "") reply.numericText(RPL_NAMREPLY, params, line);
}
