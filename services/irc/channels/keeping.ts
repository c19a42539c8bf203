/** Channels that outlive their members: what is stored of them, and how they are restored. */

import { Channel, type Topic } from "./channel.ts";
import { CHANNEL_MODES } from "./modes.ts";
import type { ServerState } from "../state.ts";

/** An entry of a list of masks. */
export interface KeptEntry {
  readonly mask: string;
  readonly setBy: string;
  /** Unix milliseconds. */
  readonly setAt: number;
}

/** The stored state of a channel: everything but its members. */
export interface KeptChannel {
  readonly name: string;
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly topic: Readonly<Topic> | null;
  /** The letters of its flags. */
  readonly flags: string;
  readonly key: string | null;
  readonly userLimit: number | null;
  /** By the letter of the list. */
  readonly lists: Readonly<Record<string, readonly KeptEntry[]>>;
}

/** A store of channels that outlive their members; the embedding program implements it. */
export interface ChannelKeeper {
  /** The stored state of a channel; null if it is not kept. */
  find(channel: string): KeptChannel | null;
  /**
   * Stores a change of a kept channel. The next read already returns it. The promise resolves when
   * the change is on disk, or cannot be written at present.
   */
  changed(channel: KeptChannel): Promise<void>;
}

/** A channel as it is kept. */
export function keptForm(channel: Channel): KeptChannel {
  const { name, createdAt, topic, key, userLimit } = channel;
  let flags = "";
  const lists: Record<string, readonly KeptEntry[]> = {};
  for (const { letter, kind, bit } of CHANNEL_MODES.values()) {
    if (kind === "flag" && channel.has(bit)) flags += letter;
    if (kind === "list" && channel.list(letter).length > 0) {
      lists[letter] = channel.list(letter).map(({ mask, setBy, setAt }) => ({
        mask,
        setBy,
        setAt,
      }));
    }
  }
  return { name, createdAt, topic: topic && { ...topic }, flags, key, userLimit, lists };
}

/** Restores a channel from its stored state; omits modes that this server does not know. */
function restoreChannel(kept: KeptChannel): Channel {
  const channel = new Channel(kept.name, kept.createdAt);
  channel.isKept = true;
  channel.topic = kept.topic && { ...kept.topic };
  channel.key = kept.key;
  channel.userLimit = kept.userLimit;
  channel.flags = 0;
  for (const { letter, kind, bit } of CHANNEL_MODES.values()) {
    if (kind === "flag" && kept.flags.includes(letter)) channel.setFlag(bit, true);
    if (kind !== "list") continue;
    for (const { mask, setBy, setAt } of kept.lists[letter] ?? []) {
      channel.addToList(letter, mask, setBy, setAt);
    }
  }
  return channel;
}

/** A stored channel without members; not yet among the channels of the server. */
export function keptChannel({ options }: ServerState, name: string): Channel | undefined {
  const kept = options.channels?.find(name) ?? null;
  return kept === null ? undefined : restoreChannel(kept);
}

/**
 * Reports a change of topic or modes to the keeper of the channel. The promise resolves when the
 * change is stored; the client that made it waits until then with its next command.
 */
export function noteChange({ options }: ServerState, channel: Channel): void | Promise<void> {
  if (channel.isKept) return options.channels?.changed(keptForm(channel));
}
