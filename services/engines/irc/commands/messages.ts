import { muteReason, refuseMuted } from "../admission/muting.ts";
import { ChannelFlag, MemberStatus, STATUSES, UserMode } from "../channels/modes.ts";
import type { CommandCall, CommandHandler } from "../command.ts";
import { MESSAGE_TARGETS } from "../isupport.ts";
import type { JudgedMessage, ObservedMessage } from "../options.ts";
import {
  joinLines,
  type MessageLine,
  type MessageText,
  type Outbound,
  repliedTo,
  timeOf,
} from "../outbound.ts";
import { Cap } from "../protocol/capabilities.ts";
import { foldCase, isRelayedNick, looksLikeChannel } from "../protocol/names.ts";
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
  UNAVAILABLE,
} from "../protocol/numerics.ts";
import { encodedLength } from "../protocol/text.ts";
import { askService, isService } from "../users/service.ts";
import { possibleClient } from "../users/virtual_client.ts";
import type { Channel, Client } from "../members.ts";

/** PRIVMSG target{,target} :text. */
export function privmsg(call: CommandCall): void | Promise<void> {
  return inTurn(call, 1, sendNow);
}

/** NOTICE target{,target} :text. */
export function notice(call: CommandCall): void | Promise<void> {
  return inTurn(call, 1, sendNow);
}

/** TAGMSG target{,target}: tags without a text (IRCv3 message-tags). */
export function tagmsg(call: CommandCall): void | Promise<void> {
  return inTurn(call, 1, sendNow);
}

/** Sends a multiline message to one target, when it is the turn of its last line. */
export function sendLines(
  call: CommandCall,
  target: string,
  lines: readonly MessageLine[],
): void | Promise<void> {
  return inTurn(call, lines.length, () => sendTo(call, [target], lines));
}

/**
 * Sends a number of messages when the account's own rate allows it, unless the account is muted by
 * then.
 */
function inTurn(
  call: CommandCall,
  messages: number,
  send: CommandHandler,
): void | Promise<void> {
  const { state, client } = call;
  let delay = 0;
  for (let left = isAnswerable(client) ? messages : 0; left > 0; left--) {
    delay = state.options.accounts.messageDelay?.(client.account ?? "") ?? 0;
  }
  return delay === 0 ? unlessMuted(call, send) : later(call, delay, send);
}

async function later(call: CommandCall, delay: number, send: CommandHandler): Promise<void> {
  await call.client.pause(delay);
  if (call.client.quitReason === null) await unlessMuted(call, send);
}

function unlessMuted(call: CommandCall, send: CommandHandler): void | Promise<void> {
  const reason = muteReason(call.state, call.client);
  return reason === null ? send(call) : refuseMuted(call, reason);
}

function sendNow(call: CommandCall): void | Promise<void> {
  const { command, params } = call;
  const targets = targetsIn(params[0] ?? "");
  if (targets.length === 0) return void refuse(call, ERR_NORECIPIENT);
  const text = params[1] ?? "";
  if (command !== "TAGMSG" && text === "") return void refuse(call, ERR_NOTEXTTOSEND);
  if (targets.length > MESSAGE_TARGETS) {
    return void refuse(call, ERR_TOOMANYTARGETS, targets[MESSAGE_TARGETS] as string);
  }
  return sendTo(call, targets, text);
}

function targetsIn(list: string): readonly string[] {
  if (list !== "" && !list.includes(",")) return [list];
  return list.split(",").filter((target) => target !== "");
}

function sendTo(
  call: CommandCall,
  targets: readonly string[],
  speech: MessageText,
): void | Promise<void> {
  let answers: Promise<void>[] | null = null;
  for (const target of targets) {
    const answer = isChannelTarget(target)
      ? void sendToChannel(call, target, speech)
      : sendToUser(call, target, speech);
    if (answer) (answers ??= []).push(answer);
  }
  if (answers !== null) return Promise.all(answers).then(() => {});
}

/** The standing of a client in a channel that decides whether it may speak. */
export interface Standing {
  readonly member: boolean;
  /** Sum of the bits of its statuses. */
  readonly status: number;
}

/** How a message to a channel differs from one that its sender's client sent. */
interface ChannelSpeech {
  /** The sender's standing, if it is not its status in the channel. */
  readonly standing?: Standing | undefined;
  /** What the guard judges in place of the text; null if it has judged this text already. */
  readonly judged?: string | null;
}

/**
 * Sends a message to a channel, if the sender's standing allows it; otherwise sends the reason to
 * the sender.
 *
 * @returns the message that was sent, or null
 */
export function sendToChannel(
  call: CommandCall,
  target: string,
  speech: MessageText,
  { standing, judged }: ChannelSpeech = {},
): Outbound | null {
  const { state, client } = call;
  const prefix = looksLikeChannel(target)
    ? undefined
    : STATUSES.find(({ prefix }) => target.startsWith(prefix));
  const name = prefix ? target.slice(1) : target;
  const channel = state.findChannel(name);
  if (!channel) return refuse(call, ERR_NOSUCHCHANNEL, name);
  const speaking = standing ?? standingOf(channel, client);
  if (!maySpeak(channel, client, speaking)) {
    if (channel.isHiddenFrom(client)) return refuse(call, ERR_NOSUCHCHANNEL, name);
    return refuse(call, ERR_CANNOTSENDTOCHAN, channel.name);
  }
  const text = plainText(speech);
  if (channel.has(ChannelFlag.NO_CTCP) && isCtcpQuery(text) && !client.privileged) {
    return refuse(call, ERR_CANNOTSENDTOCHAN, channel.name);
  }
  const reason = judged === null ? null : judge(call, channel, judged ?? text, speaking);
  if (reason !== null) {
    refuseMuted({ ...call, params: [target] }, reason);
    return null;
  }
  const message = outgoing(call, (prefix?.prefix ?? "") + channel.name, speech);
  if (message === null || !deliver(call, channel, message, prefix?.bit ?? 0)) return null;
  const about = { channel: channel.name, receiver: null, statusPrefix: prefix?.prefix ?? "" };
  observeMessage(call, message, about);
  return message;
}

/** The reason why the program's guard refuses a message; null if it does not. */
function judge(
  { state, client, command }: CommandCall,
  { name: channel }: Channel,
  text: string,
  { status }: Standing,
): string | null {
  const { guard } = state;
  if (guard === null || guard.isIdle || client.privileged || !isMessage(command)) return null;
  const isOperator = client.isOperator || (status & MemberStatus.OPERATOR) !== 0;
  const judged = { sender: client.actor, isOperator, command, channel, text, time: state.now() };
  try {
    return guard.judge(judged);
  } catch (error) {
    state.log.error("The guard of messages failed", { error });
    return null;
  }
}

function isMessage(command: string): command is JudgedMessage["command"] {
  return command === "PRIVMSG" || command === "NOTICE" || command === "TAGMSG";
}

/**
 * The only place where a message enters a channel. A message for some members only is not kept.
 *
 * @param status the lowest status of its receivers, or 0 for all
 * @returns false if it cannot be stored: then nobody got it, and the sender is told
 */
function deliver(
  call: CommandCall,
  channel: Channel,
  message: Outbound,
  status: number,
): boolean {
  const { state, client, command, reply } = call;
  const send = () => {
    for (const member of channel.listeners) {
      if (member === client || (status > 0 && channel.statusOf(member) < status)) continue;
      if (takes(member, command)) member.send(message);
    }
    if (client.hasCapability(Cap.ECHO_MESSAGE)) reply.message(message);
  };
  if (status !== 0) send();
  else if (!state.history.sayInChannel(channel, message, send)) {
    refuseUnstored(call, channel.name);
    return false;
  }
  return true;
}

/** Tells a sender that nobody got a message, because the history does not take it. */
function refuseUnstored({ command, reply }: CommandCall, target: string): void {
  reply.fail(command, UNAVAILABLE, [target], NOT_STORED);
}

const NOT_STORED = "The message was not sent, because it cannot be stored at the moment: try again";

/** Sends a message to a user. Returns a promise to wait for, if the user is a service. */
function sendToUser(
  call: CommandCall,
  target: string,
  speech: MessageText,
): void | Promise<void> {
  const receiver = call.state.findClient(target) ?? absentUser(call, target);
  if (!receiver) {
    refuse(call, ERR_NOSUCHNICK, target);
  } else if (isService(receiver)) {
    return askService(call, receiver, plainText(speech));
  } else {
    deliverToUser(call, receiver, speech);
  }
}

/**
 * The user whose nick this is, although nobody has it; null if messages to it are not kept. The
 * program itself keeps what it has to say.
 */
function absentUser({ state, client: { privileged } }: CommandCall, nick: string): Client | null {
  const absent = privileged ? null : state.options.accounts.absentUser?.(nick) ?? null;
  if (absent === null) return null;
  const client = possibleClient(state, absent.identity);
  client.away = absent.away;
  return client;
}

/**
 * Sends a message to a user that is not a service; tells the sender if it is too long.
 *
 * @returns the message that was sent, or null
 */
export function deliverToUser(
  call: CommandCall,
  receiver: Client,
  speech: MessageText,
): Outbound | null {
  const { state, client, command, reply } = call;
  const message = outgoing(call, receiver.nick, speech);
  if (message === null) return null;
  const isSaid = state.history.sayBetween(client, receiver, message, () => {
    if (takes(receiver, command)) receiver.send(message);
    if (client.hasCapability(Cap.ECHO_MESSAGE)) reply.message(message);
  });
  if (!isSaid) {
    refuseUnstored(call, receiver.nick);
    return null;
  }
  // An answer of a bot, which its reader has before them.
  if (command === "NOTICE" && client.hasMode(UserMode.BOT)) {
    state.noteReceived(receiver, client.nick, timeOf(message.tags));
  }
  if (command === "PRIVMSG" && receiver.away !== null) {
    reply.numericText(RPL_AWAY, [receiver.nick], receiver.away);
  }
  const about = { channel: null, receiver: receiver.actor, statusPrefix: "" };
  observeMessage(call, message, about);
  return message;
}

function observeMessage(
  { state, client, command }: CommandCall,
  message: Outbound,
  { channel, receiver, statusPrefix }: Pick<
    ObservedMessage,
    "channel" | "receiver" | "statusPrefix"
  >,
): void {
  if (command !== "PRIVMSG" && command !== "NOTICE") return;
  const { tags } = message;
  const { msgid: id = "" } = tags;
  // Not the text that came in, which may be a part of all that came with it.
  const text = plainText(message.text ?? "");
  state.observeMessage({
    id,
    time: timeOf(tags),
    sender: client.actor,
    command,
    channel,
    receiver,
    statusPrefix,
    text,
    answered: repliedTo(tags),
    isRelayed: false,
  });
}

/**
 * The message for its receivers. Null if it exceeds the length of a line; then the sender is told.
 * A message arrives whole or not at all.
 */
function outgoing(call: CommandCall, target: string, speech: MessageText): Outbound | null {
  const { state, client, command, reply } = call;
  const params = [target];
  if (isTooLong(client.head(command, params).bytes, speech, state.limits.lineBytes)) {
    reply.numeric(ERR_INPUTTOOLONG);
    return null;
  }
  return state.messageFrom(client, command, {
    params,
    text: command === "TAGMSG" ? undefined : speech,
    id: call.id,
    clientTags: tagsPassedOn(call),
  });
}

/** Whether a line of the message would exceed the length limit, in bytes of UTF-8. */
function isTooLong(headBytes: number, speech: MessageText, most: number): boolean {
  const room = most - headBytes - " :\r\n".length;
  const longest = typeof speech === "string"
    ? speech
    : speech.reduce((long, { text }) => text.length > long.length ? text : long, "");
  // No UTF-16 unit takes more than three bytes.
  if (longest.length * 3 <= room) return false;
  const texts = typeof speech === "string" ? [speech] : speech.map(({ text }) => text);
  return Math.max(...texts.map(encodedLength)) > room;
}

/**
 * The client-only tags that are passed on with a message (IRCv3 message-tags); undefined if there
 * are none.
 */
function tagsPassedOn(
  { state, client, tags }: CommandCall,
): readonly (readonly [string, string])[] | undefined {
  if (tags.size === 0) return undefined;
  const { reservedTags = [] } = state.options;
  const passedOn = [...tags].filter(([key]) =>
    key.startsWith("+") && (client.privileged || !reservedTags.includes(foldCase(key.slice(1))))
  );
  return passedOn.length > 0 ? passedOn : undefined;
}

/** Replies with an error, but never to a NOTICE (RFC 1459). */
function refuse({ command, reply }: CommandCall, numeric: Numeric, ...params: string[]): null {
  if (command !== "NOTICE") reply.numeric(numeric, ...params);
  return null;
}

/** Whether the accounts may limit what the client sends. */
function isAnswerable(client: Client): client is Client & { account: string } {
  return client.account !== null && !client.privileged;
}

function plainText(speech: MessageText): string {
  return typeof speech === "string" ? speech : joinLines(speech);
}

/** A CTCP message begins with its delimiter; ACTION is speech rather than a question. */
function isCtcpQuery(text: string): boolean {
  return text.startsWith("\x01") && !text.startsWith("\x01ACTION ");
}

/** Only clients that requested tags receive TAGMSG. */
function takes(receiver: Client, command: string): boolean {
  return command !== "TAGMSG" || receiver.hasCapability(Cap.MESSAGE_TAGS);
}

function isChannelTarget(target: string): boolean {
  if (looksLikeChannel(target)) return true;
  return STATUSES.some(({ prefix }) => target.startsWith(prefix)) &&
    looksLikeChannel(target.slice(1));
}

export function standingOf(channel: Channel, client: Client): Standing {
  return { member: channel.members.has(client), status: channel.statusOf(client) };
}

export function maySpeak(channel: Channel, client: Client, { member, status }: Standing): boolean {
  if (client.privileged || status !== 0) return true;
  if (channel.has(ChannelFlag.MODERATED)) return false;
  if (channel.has(ChannelFlag.NO_EXTERNAL) && !member) return false;
  return !channel.isSilenced(client);
}

/** RELAYMSG: passes on a message from another network under its author's name (draft/relaymsg). */

/**
 * RELAYMSG channel nick :text, for operators of the channel. The nick contains a `/`, which no
 * user's nick does. The channel's bans apply to it.
 */
export function relaymsg(call: CommandCall): void | Promise<void> {
  const { state, client, command, params, reply } = call;
  const [name = "", nick = "", text = ""] = params;
  const fail = (code: string, why: string) => reply.fail(command, code, [], why);
  const channel = state.findChannel(name);
  if (!channel?.isVisibleTo(client)) return reply.numeric(ERR_NOSUCHCHANNEL, name);
  if (!client.privileged && !channel.isOperator(client)) {
    return fail("PRIVS_NEEDED", "Only operators of the channel relay messages to it");
  }
  if (text.trim() === "") return fail("BLANK_MSG", "The message has no text");
  if (!isRelayedNick(nick)) {
    return fail("INVALID_NICK", 'A relayed nick has a "/" in it and none of !@*?, and space');
  }
  if (channel.silencesMask(`${nick}!${client.user}@${client.host}`)) {
    return fail("BANNED", "This nick is banned from the channel");
  }
  return inTurn(call, 1, () => relay(call, channel, nick, text));
}

function relay(call: CommandCall, channel: Channel, nick: string, text: string): void {
  const { state, client, reply } = call;
  const frame = `:${nick}!${client.user}@${client.host} PRIVMSG ${channel.name} :\r\n`;
  if (encodedLength(frame) + encodedLength(text) > state.limits.lineBytes) {
    return reply.numeric(ERR_INPUTTOOLONG);
  }
  const message = state.messageFrom(client, "PRIVMSG", {
    params: [channel.name],
    text,
    relayedFrom: nick,
    clientTags: tagsPassedOn(call),
  });
  if (!deliver(call, channel, message, 0)) return;
  const { tags } = message;
  const { msgid: id = "" } = tags;
  state.observe((observer) =>
    observer.messageSent?.({
      id,
      time: timeOf(tags),
      command: "PRIVMSG",
      text,
      sender: { ...client.actor, nick },
      channel: channel.name,
      receiver: null,
      statusPrefix: "",
      answered: repliedTo(tags),
      isRelayed: true,
    })
  );
}
