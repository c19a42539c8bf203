/** REDACT (IRCv3 "message-redaction"): removes a message, one's own or another's. */

import { Cap } from "../protocol/capabilities.ts";
import type { CommandCall } from "../command.ts";
import type { Conversation } from "../history/history.ts";
import { looksLikeChannel } from "../protocol/names.ts";
import type { Outbound } from "../outbound.ts";
import { truncate } from "../protocol/text.ts";
import { isSameAccount } from "../admission/registration.ts";
import { maySpeak, standingOf } from "./messages.ts";
import type { Channel, Client } from "../members.ts";
import type { HistoryEntry } from "../history/log.ts";
import { UNAVAILABLE } from "../protocol/numerics.ts";

const REDACTABLE: ReadonlySet<string> = new Set(["PRIVMSG", "NOTICE", "TAGMSG"]);

/**
 * REDACT target msgid [reason], for a message that is still in the history. Its author may redact
 * it; in a channel, channel operators and IRC operators may too. The author is the account, or the
 * connection of a guest. Clients with the capability receive REDACT. Later reads of the history
 * omit the message; with `draft/event-playback` they show that it was redacted.
 */
export async function redact(call: CommandCall): Promise<void> {
  const { state, client, params: [target = "", id = ""] } = call;
  const isChannel = looksLikeChannel(target);
  const conversation: Conversation | undefined = isChannel
    ? state.findChannel(target)
    : { client, nick: target };
  const entry = conversation ? await state.history.find(conversation, id) : null;
  if (client.quitReason !== null) return;
  if (isChannel) redactInChannel(call, target, entry);
  else redactBetween(call, target, entry);
}

function redactInChannel(call: CommandCall, target: string, entry: HistoryEntry | null): void {
  const { state, client, command, reply } = call;
  const channel = state.findChannel(target);
  const isInside = channel?.members.has(client) || client.privileged || client.isOperator;
  if (!channel || !isInside) {
    return reply.fail(command, "INVALID_TARGET", [target], "You are not in this channel");
  }
  if (!isRedactable(call, entry)) return;
  const own = isAuthor(call, entry);
  const mayForOthers = client.privileged || client.isOperator || channel.isOperator(client);
  if (!own && !mayForOthers) return refuse(call);

  const message = redaction(call, channel.name, reasonIn(call, channel));
  if (!state.history.redact(entry, message)) return refuseUnstored(call);
  for (const member of channel.listeners) {
    if (member !== client && takes(member)) member.send(message);
  }
  reply.message(message);
  state.history.recordInChannel(channel, message);
  observe(call, entry, channel.name, own);
}

/** In a private conversation, only the author may redact a message. */
function redactBetween(call: CommandCall, target: string, entry: HistoryEntry | null): void {
  const { state, client, params, reply } = call;
  if (!isRedactable(call, entry)) return;
  if (!isAuthor(call, entry)) return refuse(call);

  const receiver = state.findClient(target);
  const message = redaction(call, receiver?.nick ?? target, params[2]);
  if (!state.history.redact(entry, message)) return refuseUnstored(call);
  if (receiver && receiver !== client && takes(receiver)) receiver.send(message);
  reply.message(message);
  if (receiver) state.history.recordBetween(client, receiver, message);
  observe(call, entry, null, true);
}

/** Whether the entry is a message; if not, sends the client an error. */
function isRedactable(call: CommandCall, entry: HistoryEntry | null): entry is HistoryEntry {
  if (entry && REDACTABLE.has(entry.message.command)) return true;
  const { params: [target = "", id = ""], command, reply } = call;
  reply.fail(command, "UNKNOWN_MSGID", [target, id], "This message does not exist or is too old");
  return false;
}

function refuse({ params: [target = "", id = ""], command, reply }: CommandCall): void {
  reply.fail(command, "REDACT_FORBIDDEN", [target, id], "You may not redact this message");
}

function refuseUnstored({ params: [target = "", id = ""], command, reply }: CommandCall): void {
  const why = "The message is still there, because the history cannot be written at the moment";
  reply.fail(command, UNAVAILABLE, [target, id], why);
}

function isAuthor({ state, client }: CommandCall, { time, message: { tags } }: HistoryEntry) {
  if (!tags.account) return tags.guest === client.id;
  if (!isSameAccount(tags.account, client.account)) return false;
  return time >= (state.options.accounts.accountSince?.(tags.account) ?? 0);
}

/** The reason counts as speech: a client that may not speak in the channel cannot give one. */
function reasonIn(call: CommandCall, channel: Channel): string | undefined {
  const { client, params } = call;
  const mayGive = client.isOperator || maySpeak(channel, client, standingOf(channel, client));
  return mayGive ? params[2] : undefined;
}

function redaction(
  { state, client, params, command }: CommandCall,
  target: string,
  reason: string | undefined,
): Outbound {
  const content = { params: [target, params[1] ?? ""] };
  if (!reason) return state.messageFrom(client, command, content);
  const text = truncate(reason, state.limits.reasonBytes);
  return state.messageFrom(client, command, { ...content, text });
}

function takes(client: Client): boolean {
  return client.hasCapability(Cap.MESSAGE_REDACTION);
}

function observe(
  { state, client }: CommandCall,
  { id, message: { source } }: HistoryEntry,
  channel: string | null,
  own: boolean,
): void {
  const author = source?.split("!", 1)[0] ?? "";
  const event = { id, actor: client.actor, channel, author, own };
  state.observe((observer) => observer.messageRedacted?.(event));
}
