import { statusPrefix, UserMode } from "../channels/modes.ts";
import type { CommandCall } from "../command.ts";
import { takesMetadata } from "../metadata/notices.ts";
import { addressParameter } from "../protocol/addresses.ts";
import { Cap } from "../protocol/capabilities.ts";
import { compileMask, looksLikeChannel } from "../protocol/names.ts";
import {
  ERR_NONICKNAMEGIVEN,
  ERR_NOSUCHNICK,
  ERR_WASNOSUCHNICK,
  RPL_AWAY,
  RPL_ENDOFWHO,
  RPL_ENDOFWHOIS,
  RPL_ENDOFWHOWAS,
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
  RPL_WHOREPLY,
  RPL_WHOSPCRPL,
  RPL_WHOWASUSER,
} from "../protocol/numerics.ts";
import type { Channel, Client } from "../members.ts";

/** Most answers to a WHO with a mask. A channel is listed in full. */
const MASK_MATCHES = 500;

/** What WHOX shows in place of a hidden address. */
const HIDDEN_ADDRESS = "255.255.255.255";

/** A listed client, and the channel to list it under. */
interface Listed {
  readonly call: CommandCall;
  readonly user: Client;
  readonly channel: Channel | null;
}

/** WHO mask [%fields[,token]] (modern.ircdocs.horse and IRCv3 WHOX). */
export async function who(call: CommandCall): Promise<void> {
  const { client, params, reply } = call;
  const mask = params[0] ?? "*";
  const [, fields, token] = /^%([a-z]*)(?:,(.{0,3}))?/i.exec(params[1] ?? "") ?? [];
  for (const listed of select(call, mask)) {
    const pause = reply.pause();
    if (pause) await pause;
    if (client.quitReason !== null) return;
    if (listed === null) continue;
    if (fields === undefined) sendReply(listed);
    else sendFields(listed, fields, token ?? "0");
  }
  reply.numeric(RPL_ENDOFWHO, mask);
}

/** Whether a WHO asks for one user, as clients do for every joining user. */
export function isWhoOfOne(params: readonly string[]): boolean {
  return !/[#*?]/.test(params[0] ?? "*");
}

/** The users that a mask means; null for each that it does not, so that the search can pause. */
function* select(call: CommandCall, mask: string): Iterable<Listed | null> {
  const { state, client } = call;
  if (looksLikeChannel(mask)) {
    const channel = state.findChannel(mask);
    if (!channel?.isVisibleTo(client)) return;
    const inside = channel.members.has(client) || client.isOperator;
    for (const user of channel.members.keys()) {
      if (inside || !user.isInvisible) yield { call, user, channel };
    }
    return;
  }
  const exact = state.findClient(mask);
  if (exact) return yield { call, user: exact, channel: null };
  if (!/[*?]/.test(mask)) return;
  const matches = compileMask(mask);
  let left = MASK_MATCHES;
  for (const user of state.clients) {
    const isMeant = user.registered && (matches(user.nick) || matches(user.mask)) &&
      isVisible(user, client);
    if (isMeant && left-- === 0) return;
    yield isMeant ? { call, user, channel: null } : null;
  }
}

function isVisible(user: Client, to: Client): boolean {
  if (!user.isInvisible || user === to || to.isOperator) return true;
  for (const channel of user.channels) if (channel.members.has(to)) return true;
  return false;
}

function sendReply(listed: Listed): void {
  const { call, user, channel } = listed;
  call.reply.numericText(RPL_WHOREPLY, [
    channel?.name ?? "*",
    user.user,
    user.host,
    call.state.serverName,
    user.nick,
    flags(listed),
  ], `0 ${user.realname}`);
}

/** H for here or G for gone, `*` for an operator, the statuses in the channel, B for a bot. */
function flags({ call, user, channel }: Listed): string {
  const all = call.client.hasCapability(Cap.MULTI_PREFIX);
  return (user.away === null ? "H" : "G") + (user.isOperator ? "*" : "") +
    (channel ? statusPrefix(channel.statusOf(user), all) : "") +
    (user.hasMode(UserMode.BOT) ? "B" : "");
}

/** The fields of WHOX in the order in which they are always sent. */
const FIELDS: readonly (readonly [string, (listed: Listed, token: string) => string])[] = [
  ["t", (_, token) => token],
  ["c", ({ channel }) => channel?.name ?? "*"],
  ["u", ({ user }) => user.user],
  ["i", (listed) => address(listed)],
  ["h", ({ user }) => user.host],
  ["s", ({ call }) => call.state.serverName],
  ["n", ({ user }) => user.nick],
  ["f", flags],
  ["d", () => "0"],
  ["l", ({ call, user }) => String(Math.floor((call.state.now() - user.lastActiveAt) / 1000))],
  ["a", ({ user }) => user.account ?? "0"],
  ["o", () => "n/a"],
  ["r", ({ user }) => user.realname],
];

function sendFields(listed: Listed, fields: string, token: string): void {
  const { reply } = listed.call;
  const values = FIELDS.filter(([letter]) => fields.includes(letter))
    .map(([, value]) => value(listed, token));
  if (fields.includes("r")) {
    reply.numericText(RPL_WHOSPCRPL, values.slice(0, -1), listed.user.realname);
  } else reply.numeric(RPL_WHOSPCRPL, ...values);
}

function address({ call, user }: Listed): string {
  const mayKnow = user === call.client || call.client.isOperator;
  return mayKnow ? addressParameter(user.transport.address) : HIDDEN_ADDRESS;
}

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

/** Most users in the answer to one WHOWAS. */
const ANSWERS = 20;

/** WHOWAS nick [count]: earlier users of the nick, the last one first. */
export function whowas({ state, client, params, reply }: CommandCall): void {
  const nick = params[0] ?? "";
  if (nick === "") return reply.numeric(ERR_NONICKNAMEGIVEN);
  const count = Number.parseInt(params[1] ?? "", 10);
  const users = state.formerUsers.find(nick, count > 0 ? Math.min(count, ANSWERS) : ANSWERS);
  if (users.length === 0) reply.numeric(ERR_WASNOSUCHNICK, nick);
  for (const { nick, user, host, realname, address, leftAt } of users) {
    reply.numericText(RPL_WHOWASUSER, [nick, user, host, "*"], realname);
    if (client.isOperator) reply.numeric(RPL_WHOISACTUALLY, nick, addressParameter(address));
    const left = new Date(leftAt).toISOString();
    reply.numericText(RPL_WHOISSERVER, [nick, state.serverName], left);
  }
  reply.numeric(RPL_ENDOFWHOWAS, nick);
}
