import { Cap } from "../capabilities.ts";
import type { Channel } from "../channel.ts";
import type { Client } from "../client.ts";
import type { CommandCall } from "../command.ts";
import { MESSAGE_TARGETS } from "../isupport.ts";
import { ChannelFlag, STATUSES } from "../modes.ts";
import { looksLikeChannel } from "../names.ts";
import {
  ERR_CANNOTSENDTOCHAN,
  ERR_INPUTTOOLONG,
  ERR_NORECIPIENT,
  ERR_NOSUCHCHANNEL,
  ERR_NOSUCHNICK,
  ERR_NOTEXTTOSEND,
  ERR_TOOMANYTARGETS,
  type Numeric,
  RPL_AWAY,
} from "../numerics.ts";
import { encodedLength, type Outbound } from "../outbound.ts";
import type { MessageContent } from "../state.ts";

/** PRIVMSG target{,target} :text. */
export function privmsg(call: CommandCall): void {
  sendMessage(call);
}

/** NOTICE target{,target} :text. */
export function notice(call: CommandCall): void {
  sendMessage(call);
}

/** TAGMSG target{,target}: tags without a text (IRCv3 message-tags). */
export function tagmsg(call: CommandCall): void {
  sendMessage(call);
}

function sendMessage(call: CommandCall): void {
  const { command, params } = call;
  const targets = (params[0] ?? "").split(",").filter((target) => target !== "");
  if (targets.length === 0) return refuse(call, ERR_NORECIPIENT);
  const text = params[1] ?? "";
  if (command !== "TAGMSG" && text === "") return refuse(call, ERR_NOTEXTTOSEND);
  if (targets.length > MESSAGE_TARGETS) {
    return refuse(call, ERR_TOOMANYTARGETS, targets[MESSAGE_TARGETS] as string);
  }
  for (const target of targets) {
    if (isChannelTarget(target)) sendToChannel(call, target, text);
    else sendToUser(call, target, text);
  }
}

function sendToChannel(call: CommandCall, target: string, text: string): void {
  const { state, client } = call;
  const status = STATUSES.find(({ prefix }) => target.startsWith(prefix));
  const name = status ? target.slice(1) : target;
  const channel = state.findChannel(name);
  if (!channel) return refuse(call, ERR_NOSUCHCHANNEL, name);
  if (!maySpeak(channel, client)) return refuse(call, ERR_CANNOTSENDTOCHAN, channel.name);
  const message = outgoing(call, (status?.prefix ?? "") + channel.name, text);
  if (message) deliver(call, channel, message, status?.bit ?? 0);
}

/**
 * The one place where a channel takes a message: what keeps an ordered log of it belongs here.
 * `status`: the least status of those who get it, or 0 for all.
 */
function deliver(call: CommandCall, channel: Channel, message: Outbound, status: number): void {
  const { client, command, reply } = call;
  for (const [member, memberStatus] of channel.members) {
    if (member === client || memberStatus < status) continue;
    if (takes(member, command)) member.send(message);
  }
  if (client.hasCapability(Cap.ECHO_MESSAGE)) reply.message(message);
}

function sendToUser(call: CommandCall, target: string, text: string): void {
  const { state, client, command, reply } = call;
  const receiver = state.findClient(target);
  if (!receiver) return refuse(call, ERR_NOSUCHNICK, target);
  const message = outgoing(call, receiver.nick, text);
  if (!message) return;
  if (takes(receiver, command)) receiver.send(message);
  if (client.hasCapability(Cap.ECHO_MESSAGE)) reply.message(message);
  if (command === "PRIVMSG" && receiver.away !== null) {
    reply.numericText(RPL_AWAY, [receiver.nick], receiver.away);
  }
}

/**
 * The message as its receivers get it. Null, and the sender is told, where it would be longer than
 * a line may be: a message arrives whole or not at all.
 */
function outgoing(call: CommandCall, target: string, text: string): Outbound | null {
  const { state, client, command, tags, reply } = call;
  const length = encodedLength(`:${client.mask} ${command} ${target} :\r\n`) + encodedLength(text);
  if (length > state.limits.lineBytes) {
    reply.numeric(ERR_INPUTTOOLONG);
    return null;
  }
  const content: MessageContent = { params: [target] };
  if (command !== "TAGMSG") content.text = text;
  const clientTags = [...tags].filter(([key]) => key.startsWith("+"));
  if (clientTags.length > 0) content.clientTags = clientTags;
  return state.messageFrom(client, command, content);
}

/** Tells what is wrong, but never in answer to a NOTICE (RFC 1459). */
function refuse({ command, reply }: CommandCall, numeric: Numeric, ...params: string[]): void {
  if (command !== "NOTICE") reply.numeric(numeric, ...params);
}

/** TAGMSG is for those who asked for tags alone. */
function takes(receiver: Client, command: string): boolean {
  return command !== "TAGMSG" || receiver.hasCapability(Cap.MESSAGE_TAGS);
}

function isChannelTarget(target: string): boolean {
  const status = STATUSES.some(({ prefix }) => target.startsWith(prefix));
  return looksLikeChannel(status ? target.slice(1) : target);
}

function maySpeak(channel: Channel, client: Client): boolean {
  if (client.privileged || channel.statusOf(client) !== 0) return true;
  if (channel.has(ChannelFlag.MODERATED)) return false;
  if (channel.has(ChannelFlag.NO_EXTERNAL) && !channel.members.has(client)) return false;
  return !channel.isBanned(client);
}
