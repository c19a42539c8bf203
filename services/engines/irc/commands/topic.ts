import { inTurn, refuseChange, storeChange } from "../channels/keeping.ts";
import type { CommandCall } from "../command.ts";
import { ChannelFlag } from "../channels/modes.ts";
import {
  ERR_CHANOPRIVSNEEDED,
  ERR_NOSUCHCHANNEL,
  ERR_NOTONCHANNEL,
  RPL_NOTOPIC,
  RPL_TOPIC,
  RPL_TOPICWHOTIME,
} from "../protocol/numerics.ts";
import { changeTopic } from "../channels/control.ts";
import type { Channel, Client } from "../members.ts";

/** TOPIC channel [text]. An empty text removes the topic. */
export function topic(call: CommandCall): void | Promise<void> {
  const { state, client, params, reply } = call;
  const name = params[0] ?? "";
  const channel = state.findChannel(name);
  if (!channel?.isVisibleTo(client)) return reply.numeric(ERR_NOSUCHCHANNEL, name);
  if (params[1] === undefined) {
    if (channel.topic) sendTopic(call, channel);
    else reply.numeric(RPL_NOTOPIC, channel.name);
    return;
  }
  if (!client.privileged) {
    if (!channel.members.has(client)) return reply.numeric(ERR_NOTONCHANNEL, channel.name);
    if (!mayChangeTopic(channel, client)) {
      return reply.numeric(ERR_CHANOPRIVSNEEDED, channel.name);
    }
  }
  const [, text] = params;
  if (channel.changing !== null) return inTurn(channel, () => topic(call));
  return setTopic(call, channel, text);
}

function mayChangeTopic(channel: Channel, client: Client): boolean {
  if (channel.isOperator(client)) return true;
  if (channel.has(ChannelFlag.TOPIC_BY_OPERATORS)) return false;
  return channel.statusOf(client) !== 0 || !channel.isSilenced(client);
}

/** Changes the topic, whatever the client may do. The members learn of it once it is stored. */
export function setTopic(call: CommandCall, channel: Channel, text: string): void | Promise<void> {
  const { state, client, reply } = call;
  return inTurn(channel, () => {
    const before = channel.settings();
    const message = changeTopic(state, channel, client, text);
    return storeChange(state, channel, before, (keeping) => {
      if (keeping !== "stored") return refuseChange(call, channel, keeping);
      state.tellChannel(channel, message, client, reply);
      const event = { actor: client.actor, channel: channel.name };
      state.observe((observer) => observer.topicChanged?.(event));
    });
  });
}

/** 332 and 333 of a channel that has a topic. */
export function sendTopic({ reply }: CommandCall, channel: Channel): void {
  if (!channel.topic) return;
  const { text, setBy, setAt } = channel.topic;
  reply.numericText(RPL_TOPIC, [channel.name], text);
  reply.numeric(RPL_TOPICWHOTIME, channel.name, setBy, String(Math.floor(setAt / 1000)));
}
