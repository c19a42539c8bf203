import type { ChannelMessage } from "../bridge/mod.ts";
import { foldCase } from "../irc/mod.ts";
import { BoundedMap } from "../kernel/bounded_map.ts";

/** Whether a text of a speaker addresses the user of a nick. */
export type NameTest = (text: string, nick: string, speaker: string) => boolean;

/** Pairs of accounts and channels whose counts are remembered. */
const MAX_COUNTS = 50_000;

/** A count, and up to where it goes. */
interface Count {
  readonly readUpTo: number | null;
  /** The timestamp of the last message that was counted; empty for none. */
  readonly last: string;
  readonly mentions: number;
}

/** Counts the unread messages that name their reader. It looks at each message once. */
export class MentionCounts {
  readonly #counts = new BoundedMap<string, Count>(MAX_COUNTS);

  /**
   * @param unread the messages that the account has not read, oldest first
   * @param readUpTo how far it has read
   */
  of(
    { account, channel, readUpTo }: {
      readonly account: string;
      readonly channel: string;
      readonly readUpTo: number | null;
    },
    unread: readonly ChannelMessage[],
    names: NameTest,
  ): number {
    const key = `${foldCase(account)} ${foldCase(channel)}`;
    const known = this.#counts.get(key);
    const counted = known?.readUpTo === readUpTo ? known : { last: "", mentions: 0 };
    const newest = unread.at(-1)?.timestamp ?? "";
    if (newest <= counted.last) return newest === "" ? 0 : counted.mentions;
    const own = foldCase(account);
    let { mentions } = counted;
    for (let index = unread.length - 1; index >= 0; index--) {
      const message = unread[index];
      if (message === undefined || message.timestamp <= counted.last) break;
      if (foldCase(message.nick) !== own && names(message.text, account, message.nick)) mentions++;
    }
    this.#counts.set(key, { readUpTo, last: newest, mentions });
    return mentions;
  }
}
