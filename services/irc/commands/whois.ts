import { Cap } from "../protocol/capabilities.ts";
import type { Client } from "../client.ts";
import type { CommandCall } from "../command.ts";
import { takesMetadata } from "../metadata/notices.ts";
import { statusPrefix, UserMode } from "../channels/modes.ts";
import { addressParameter } from "../protocol/addresses.ts";
import {
  ERR_NONICKNAMEGIVEN,
  ERR_NOSUCHNICK,
  RPL_AWAY,
  RPL_ENDOFWHOIS,
  RPL_WHOISACCOUNT,
  RPL_WHOISACTUALLY,
  RPL_WHOISBOT,
  RPL_WHOISCHANNELS,
  RPL_WHOISIDLE,
  RPL_WHOISKEYVALUE,
  RPL_WHOISOPERATOR,
  RPL_WHOISSECURE,
  RPL_WHOISSERVER,
  RPL_WHOISSPECIAL,
  RPL_WHOISUSER,
} from "../protocol/numerics.ts";

/** Most characters of channels in one 319, so that it fits a classic line. */
const CHANNELS_LENGTH = 380;

/** WHOIS [server] nick. */
export async function whois(call: CommandCall): Promise<void> {
  const { state, params, reply } = call;
  const nick = params[1] ?? params[0] ?? "";
  if (nick === "") return reply.numeric(ERR_NONICKNAMEGIVEN);
  const user = state.findClient(nick);
  if (user) await describe(call, user);
  else reply.numeric(ERR_NOSUCHNICK, nick);
  reply.numeric(RPL_ENDOFWHOIS, user?.nick ?? nick);
}

async function describe(call: CommandCall, user: Client): Promise<void> {
  const { state, client, reply } = call;
  const { nick } = user;
  reply.numericText(RPL_WHOISUSER, [nick, user.user, user.host, "*"], user.realname);
  sendChannels(call, user);
  const { serverName, serverDescription } = state.options;
  reply.numericText(RPL_WHOISSERVER, [nick, serverName], serverDescription);
  if (user.away !== null) reply.numericText(RPL_AWAY, [nick], user.away);
  if (user.isOperator) reply.numeric(RPL_WHOISOPERATOR, nick);
  if (user.hasMode(UserMode.BOT)) reply.numeric(RPL_WHOISBOT, nick);
  if (user.account !== null) reply.numeric(RPL_WHOISACCOUNT, nick, user.account);
  const activity = user.account === null
    ? null
    : await state.options.accounts.activity?.(user.account) ?? null;
  if (activity !== null) reply.numericText(RPL_WHOISSPECIAL, [nick], activity);
  if (user === client || client.isOperator) {
    reply.numeric(RPL_WHOISACTUALLY, nick, addressParameter(user.transport.address));
  }
  if (takesMetadata(client)) {
    for (const [key, value] of state.metadata.valuesOf(user)) {
      reply.numericText(RPL_WHOISKEYVALUE, [nick, key, "*"], value);
    }
  }
  if (user.transport.secure) reply.numeric(RPL_WHOISSECURE, nick);
  const idle = Math.floor((state.now() - user.lastActiveAt) / 1000);
  const since = Math.floor(user.connectedAt / 1000);
  reply.numeric(RPL_WHOISIDLE, nick, String(idle), String(since));
}

/** Only fellow members see an invisible user's channels, and secret channels. */
function sendChannels({ client, reply }: CommandCall, user: Client): void {
  const all = client.hasCapability(Cap.MULTI_PREFIX);
  let line = "";
  for (const channel of user.channels) {
    const shown = user === client || client.isOperator || channel.members.has(client) ||
      (!user.isInvisible && channel.isVisibleTo(client));
    if (!shown) continue;
    const entry = statusPrefix(channel.statusOf(user), all) + channel.name;
    if (line !== "" && line.length + entry.length >= CHANNELS_LENGTH) {
      reply.numericText(RPL_WHOISCHANNELS, [user.nick], line);
      line = "";
    }
    line += line === "" ? entry : ` ${entry}`;
  }
  if (line !== "") reply.numericText(RPL_WHOISCHANNELS, [user.nick], line);
}
