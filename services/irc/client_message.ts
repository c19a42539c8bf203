import { UserMode } from "./channels/modes.ts";
import type { Client } from "./client.ts";
import type { MessageClock } from "./history/message_clock.ts";
import { MessageHead } from "./message_head.ts";
import { type MessageText, Outbound, type OutboundTags } from "./outbound.ts";

/** A message from a client: the parameters, and the free text at its end. */
export interface MessageContent {
  readonly params: readonly string[];
  readonly text?: MessageText | undefined;
  /** Its id; by default, a new one. */
  readonly id?: string | undefined;
  /** The nick of the user on another network for whom the client speaks. */
  readonly relayedFrom?: string;
  /** Client-only tags of the message. */
  readonly clientTags?: readonly (readonly [string, string])[] | undefined;
}

/** A message from a client, with its time, id and tags about the sender. */
export function clientMessage(
  client: Client,
  command: string,
  { params, text, id, relayedFrom, clientTags }: MessageContent,
  clock: MessageClock,
): Outbound {
  // All members at once: one that is added takes memory of its own.
  const tags: OutboundTags = {
    time: clock.nextTimestamp(),
    milliseconds: clock.stampedAt,
    msgid: id ?? clock.nextId(),
    account: client.account,
    guest: client.account === null ? client.id : undefined,
    relayer: relayedFrom === undefined ? undefined : client.nick,
    bot: client.hasMode(UserMode.BOT),
    client: clientTags,
  };
  const head = relayedFrom === undefined ? client.head(command, params) : new MessageHead({
    source: `${relayedFrom}!${client.user}@${client.host}`,
    command,
    params,
  });
  return new Outbound({ head, tags, text });
}
