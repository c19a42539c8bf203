import { Cap } from "../protocol/capabilities.ts";
import type { CommandCall } from "../command.ts";
import { ChannelFlag, statusPrefix } from "../channels/modes.ts";
import { LISTED_TARGETS } from "../isupport.ts";
import { distinctNames } from "../protocol/names.ts";
import { ERR_TOOMANYTARGETS, RPL_ENDOFNAMES, RPL_NAMREPLY } from "../protocol/numerics.ts";
import type { Channel } from "../members.ts";

/** Most characters of names in one 353, so that it fits a classic line. */
const NAMES_LENGTH = 380;

/**
 * NAMES [channel{,channel}]. For a hidden channel, and without a channel, only the end of the list.
 */
export async function names(call: CommandCall): Promise<void> {
  const { state, client, params, reply } = call;
  const asked = params[0] || "*";
  const wanted = distinctNames(asked);
  const tooMany = wanted[LISTED_TARGETS];
  if (tooMany !== undefined) return reply.numeric(ERR_TOOMANYTARGETS, tooMany);
  for (const name of wanted) {
    const channel = state.findChannel(name);
    if (channel?.isVisibleTo(client)) await sendNames(call, channel);
  }
  reply.numeric(RPL_ENDOFNAMES, asked);
}

/**
 * Sends 353 for the members that the client may see, without the end of the list. Returns a promise
 * if that takes more than a moment.
 */
export function sendNames(call: CommandCall, channel: Channel): void | Promise<void> {
  return sendLines(call, channel, nameLines(call, channel));
}

function sendLines(
  call: CommandCall,
  channel: Channel,
  lines: Iterator<string>,
): void | Promise<void> {
  const { client, reply } = call;
  const params = [channel.has(ChannelFlag.SECRET) ? "@" : "=", channel.name];
  for (let line = lines.next(); !line.done; line = lines.next()) {
    if (client.quitReason !== null) return;
    reply.numericText(RPL_NAMREPLY, params, line.value);
    const pause = reply.pause();
    if (pause) return pause.then(() => sendLines(call, channel, lines));
  }
}

function* nameLines({ client }: CommandCall, channel: Channel): Iterator<string, void> {
  const all = client.hasCapability(Cap.MULTI_PREFIX);
  const withHost = client.hasCapability(Cap.USERHOST_IN_NAMES);
  const inside = channel.members.has(client) || client.isOperator;
  let line = "";
  for (const [member, status] of channel.members) {
    if (!inside && member.isInvisible) continue;
    const entry = statusPrefix(status, all) + (withHost ? member.mask : member.nick);
    if (line !== "" && line.length + entry.length >= NAMES_LENGTH) {
      yield line;
      line = "";
    }
    line += line === "" ? entry : ` ${entry}`;
  }
  if (line !== "") yield line;
}
