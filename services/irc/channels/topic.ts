import type { Client } from "../client.ts";
import type { Outbound } from "../outbound.ts";
import { truncate } from "../protocol/text.ts";
import type { ServerState } from "../state.ts";
import type { Channel } from "./channel.ts";

/** Changes the topic of a channel. Returns the message that tells its members. */
export function changeTopic(
  state: ServerState,
  channel: Channel,
  source: Client,
  topic: string,
): Outbound {
  const text = truncate(topic, state.limits.topicBytes);
  channel.topic = text === "" ? null : { text, setBy: source.mask, setAt: state.now() };
  return state.messageFrom(source, "TOPIC", { params: [channel.name], text });
}
