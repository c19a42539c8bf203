/** RELAYMSG: passes on a message from another network under its author's name (draft/relaymsg). */

import type { Channel } from "../channels/channel.ts";
import type { CommandCall } from "../command.ts";
import { isRelayedNick } from "../protocol/names.ts";
import { ERR_INPUTTOOLONG, ERR_NOSUCHCHANNEL } from "../protocol/numerics.ts";
import { repliedTo, timeOf } from "../outbound.ts";
import { encodedLength } from "../protocol/text.ts";
import { deliver, inTurn, tagsPassedOn } from "./messages.ts";

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
