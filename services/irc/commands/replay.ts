/** Replays a channel's messages to joining clients that cannot request them. */

import { Cap } from "../protocol/capabilities.ts";
import type { Channel } from "../channels/channel.ts";
import type { Client } from "../client.ts";
import type { CommandCall } from "../command.ts";
import type { HistoryEntry } from "../history/history.ts";
import { HistoryKind } from "../history/store.ts";
import type { ServerState } from "../state.ts";

/**
 * Sends the last messages of a channel to a client that has just joined it, as far as its account
 * has not read them, here or elsewhere. Only clients with `server-time` receive them; without their times, old messages would look new.
 */
export function replay(call: CommandCall, channel: Channel): void | Promise<void> {
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
