/** Channels to which the program admits some accounts alone, such as that of a private project. */
import type { ServerState } from "../state.ts";
import { ChannelFlag, formatModes } from "./modes.ts";
import type { Channel, Client } from "../members.ts";

const CLOSED_MODES = [
  { letter: "i", bit: ChannelFlag.INVITE_ONLY },
  { letter: "s", bit: ChannelFlag.SECRET },
] as const;

/** Whether a client may be in a closed channel; null for a channel that is not closed. */
export function isAdmitted(
  { options: { accounts } }: ServerState,
  { account }: Pick<Client, "account">,
  channel: string,
): boolean | null {
  return accounts.admits?.(account, channel) ?? null;
}

/**
 * Applies to a channel what the accounts say now: its modes, and who must leave it. Then reports that
 * its readers may be others.
 */
export function enforceAdmission(state: ServerState, name: string): void {
  const channel = state.findChannel(name);
  if (channel !== undefined) {
    setClosed(state, channel, state.isClosed(name));
    for (const member of [...channel.members.keys()]) evictStranger(state, channel, member);
  }
  state.observe((observer) => observer.accessChanged?.({ channel: name }));
}

/** Removes a client that a closed channel does not admit. */
export function evictStranger(state: ServerState, channel: Channel, client: Client): void {
  if (client.privileged || isAdmitted(state, client, channel.name) !== false) return;
  const params = [channel.name, client.nick];
  const text = "This channel is for the members of a private project";
  const message = state.messageFromServer("KICK", { params, text });
  for (const member of channel.listeners) member.send(message);
  state.history.recordInChannel(channel, message);
  state.leave(client, channel);
}

/** Closes or opens a channel, and announces the modes that this changes. */
function setClosed(state: ServerState, channel: Channel, closed: boolean): void {
  if (channel.isClosed === closed) return;
  channel.isClosed = closed;
  const changes = CLOSED_MODES.filter(({ bit }) => channel.setFlag(bit, closed))
    .map(({ letter }) => ({ add: closed, letter, param: null }));
  if (changes.length === 0) return;
  const params = [channel.name, ...formatModes(changes)];
  const message = state.messageFromServer("MODE", { params });
  for (const member of channel.listeners) member.send(message);
  state.history.recordInChannel(channel, message);
}
