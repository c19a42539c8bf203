import { entryRefusal } from "../channels/access.ts";
import { isAdmitted } from "../channels/closing.ts";
import { keptChannel, noteMember } from "../channels/keeping.ts";
import { ChannelFlag } from "../channels/modes.ts";
import { initialStatus, statusModes } from "../channels/status.ts";
import type { CommandCall } from "../command.ts";
import { HistoryKind } from "../history/store.ts";
import { LISTED_TARGETS } from "../isupport.ts";
import { introduce, sendCurrent, sightOf } from "../metadata/notices.ts";
import { MessageHead, Outbound } from "../outbound.ts";
import { Cap } from "../protocol/capabilities.ts";
import { isChannelName } from "../protocol/names.ts";
import {
  ERR_CHANOPRIVSNEEDED,
  ERR_INVITEONLYCHAN,
  ERR_NEEDMOREPARAMS,
  ERR_NOSUCHCHANNEL,
  ERR_NOSUCHNICK,
  ERR_NOTONCHANNEL,
  ERR_TOOMANYCHANNELS,
  ERR_TOOMANYTARGETS,
  ERR_USERNOTINCHANNEL,
  ERR_USERONCHANNEL,
  type Numeric,
  RPL_AWAY,
  RPL_ENDOFINVITATIONS,
  RPL_ENDOFNAMES,
  RPL_INVITATION,
  RPL_INVITING,
} from "../protocol/numerics.ts";
import { truncate } from "../protocol/text.ts";
import type { Reply } from "../reply.ts";
import type { ServerState } from "../state.ts";
import { sendMarker } from "./markread.ts";
import { sendNames } from "./names.ts";
import { sendTopic } from "./topic.ts";
import type { Channel, Client } from "../members.ts";
import type { HistoryEntry } from "../history/log.ts";

/** Channels of one JOIN that are joined before others have their turn. */
const JOINED_AT_ONCE = 10;

/** JOIN channel{,channel} [key{,key}], or JOIN 0 to leave every channel. */
export function join(call: CommandCall): void | Promise<void> {
  const { client, params } = call;
  if (params[0] === "0") {
    for (const channel of client.channels) leaveChannel(call, channel, "Left all channels");
    return;
  }
  const keys = (params[1] ?? "").split(",");
  const names = (params[0] ?? "").split(",");
  return joinAll(call, names.entries().map(([at, name]) => ({ at, name, key: keys[at] ?? "" })));
}

/** In turn; the rest follows once the client has read its answers, and others had their turn. */
function joinAll(
  call: CommandCall,
  wanted: Iterator<{ at: number; name: string; key: string }>,
): void | Promise<void> {
  for (let next = wanted.next(); !next.done; next = wanted.next()) {
    const { at, name, key } = next.value;
    if (name === "" || call.client.quitReason !== null) continue;
    const pending = joinChannel(call, name, key) ??
      (at < JOINED_AT_ONCE ? null : call.reply.pause());
    if (pending) return pending.then(() => joinAll(call, wanted));
  }
}

/** PART channel{,channel} [reason]. */
export function part(call: CommandCall): void {
  const { state, client, params, reply } = call;
  for (const name of (params[0] ?? "").split(",")) {
    if (name === "") continue;
    const channel = state.findChannel(name);
    if (!channel || channel.isHiddenFrom(client)) reply.numeric(ERR_NOSUCHCHANNEL, name);
    else if (!channel.members.has(client)) reply.numeric(ERR_NOTONCHANNEL, channel.name);
    else leaveChannel(call, channel, params[1]);
  }
}

/**
 * Joins the client to one channel, or tells it why it may not join. Returns a promise if the client
 * reads the names of the members slowly.
 *
 * @param isReturn whether it was there before a restart, so that nobody is told and nothing recorded
 */
export function joinChannel(
  call: CommandCall,
  name: string,
  key: string,
  isReturn: boolean = false,
): void | Promise<void> {
  const { state, client, reply } = call;
  if (!isChannelName(name)) return reply.numeric(ERR_NOSUCHCHANNEL, name);
  const existing = state.findChannel(name) ?? keptChannel(state, name);
  if (existing?.members.has(client)) {
    if (client.virtual || existing.listeners.has(client)) return;
    // It took the place of a user without a connection, whom others saw there all the time.
    existing.listen(client);
    const { plain, extended } = joinMessages(state, client, existing);
    reply.message(client.hasCapability(Cap.EXTENDED_JOIN) ? extended : plain);
    return showChannel(call, existing);
  }
  const refusal = joinRefusal(state, client, { name, channel: existing, key });
  if (refusal) return reply.numeric(refusal, existing?.name ?? name);

  const channel = state.channel(name, existing);
  const isNew = channel.members.size === 0;
  const { founder } = channel;
  const status = initialStatus(state, client, channel);
  channel.setMember(client, status);
  client.channels = [...client.channels, channel];
  channel.forgetInvitation(client);
  noteMember(state, channel, client, founder);
  if (isReturn) return;
  announceJoin(state, client, channel, reply);
  introduce(state, client, channel.listeners);
  if (!isNew && status !== 0) announceStatus(state, client, channel, status, reply);
  if (!client.virtual) return showChannel(call, channel);
}

/** Sends a client the state of a channel that it joined, and what was said there before. */
function showChannel(call: CommandCall, channel: Channel): void | Promise<void> {
  const pending = sendChannel(call, channel);
  return pending ? pending.then(() => replay(call, channel)) : replay(call, channel);
}

/**
 * Sends a client the state of a channel that it joined: topic, read marker, members and metadata.
 */
export function sendChannel(call: CommandCall, channel: Channel): void | Promise<void> {
  const { client, reply } = call;
  if (channel.topic) sendTopic(call, channel);
  if (client.hasCapability(Cap.READ_MARKER)) sendMarker(call, channel.name);
  const sendValues = () => sendCurrent(call, channel.name, sightOf(channel, client));
  if (client.hasCapability(Cap.NO_IMPLICIT_NAMES)) return sendValues();
  const pending = sendNames(call, channel);
  const end = () => {
    reply.numeric(RPL_ENDOFNAMES, channel.name);
    sendValues();
  };
  return pending ? pending.then(end) : end();
}

/** The reason why the client may not join. `channel` is absent if it does not exist yet. */
export function joinRefusal(
  state: ServerState,
  client: Client,
  { name, channel, key }: { name: string; channel: Channel | undefined; key: string },
): Numeric | null {
  if (client.privileged) return null;
  const limit = state.limits.channelsPerClient;
  if (limit !== null && client.channels.length >= limit) return ERR_TOOMANYCHANNELS;
  if (channel !== undefined) return entryRefusal(state, client, channel, key);
  return isAdmitted(state, client, name) === false ? ERR_INVITEONLYCHAN : null;
}

/** JOIN in its plain form, and in the form for `extended-join`. */
export function joinMessages(
  state: ServerState,
  client: Client,
  channel: Channel,
): { plain: Outbound; extended: Outbound } {
  const plain = state.messageFrom(client, "JOIN", { params: [channel.name] });
  const params = [channel.name, client.account ?? "*"];
  const extended = new Outbound({
    head: new MessageHead({ source: client.mask, command: "JOIN", params }),
    tags: plain.tags,
    text: client.realname,
  });
  return { plain, extended };
}

/** Sends both forms of JOIN, and AWAY if the joining client is away. */
function announceJoin(state: ServerState, client: Client, channel: Channel, reply: Reply): void {
  const { plain, extended } = joinMessages(state, client, channel);
  const away = client.away === null
    ? null
    : state.messageFrom(client, "AWAY", { params: [], text: client.away });
  for (const member of channel.listeners) {
    const message = member.hasCapability(Cap.EXTENDED_JOIN) ? extended : plain;
    if (member === client) {
      reply.message(message);
      continue;
    }
    member.send(message);
    if (away && member.hasCapability(Cap.AWAY_NOTIFY)) member.send(away);
  }
  state.history.recordInChannel(channel, plain, extended);
}

function announceStatus(
  state: ServerState,
  client: Client,
  channel: Channel,
  status: number,
  reply: Reply,
): void {
  const params = [channel.name, ...statusModes(status, client.nick)];
  state.tellChannel(channel, state.messageFromServer("MODE", { params }), client, reply);
}

/** Removes the client from a channel. */
export function leaveChannel(
  { state, client, reply }: CommandCall,
  channel: Channel,
  reason: string | undefined,
): void {
  const params = [channel.name];
  const text = reason && truncate(reason, state.limits.reasonBytes);
  const content = text === undefined ? { params } : { params, text };
  const message = state.messageFrom(client, "PART", content);
  state.tellChannel(channel, message, client, reply);
  if (!channel.listeners.has(client)) reply.message(message);
  state.leave(client, channel);
}

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

/** Replays a channel's messages to joining clients that cannot request them. */

/**
 * Sends the last messages of a channel to a client that has just joined it, as far as its account
 * has not read them, here or elsewhere. Only clients with `server-time` receive them; without their times, old messages would look new.
 */
function replay(call: CommandCall, channel: Channel): void | Promise<void> {
  const { state, client } = call;
  const limit = state.limits.replayMessages;
  if (limit === 0 || !wantsReplay(state, client)) return;
  const readUpTo = state.readMarkers.read(client, channel.name);
  const since = readUpTo === null ? null : { time: readUpTo };
  const part = { kind: "latest", since } as const;
  const entries = state.history.read(channel, { part, limit, upTo: HistoryKind.MESSAGE });
  if (Symbol.iterator in entries) return send(call, channel, Array.from(entries));
  return Array.fromAsync(entries).then((read) => send(call, channel, read));
}

function wantsReplay({ options }: ServerState, client: Client): boolean {
  if (client.privileged) return false;
  if (!client.hasCapability(Cap.SERVER_TIME) || client.hasCapability(Cap.CHATHISTORY)) return false;
  return client.account === null || options.accounts.actsOnMessages?.(client.account) !== true;
}

function send(
  { client, reply }: CommandCall,
  channel: Channel,
  entries: readonly HistoryEntry[],
): void {
  if (entries.length === 0 || !channel.members.has(client)) return;
  reply.nested(
    "chathistory",
    [channel.name],
    entries.map(({ message }) => {
      return message.inChannel(channel.name);
    }),
  );
}
