import { foldCase } from "../irc/mod.ts";
import type { Channel } from "./channel.ts";
import type { ChangeListener, ChannelActivity, ChannelChange } from "./options.ts";

/** Tells what happens in the bridge's channels. */
export class ChannelNews {
  readonly #bridge: { readonly nick: string };
  readonly #onActivity: (activity: ChannelActivity) => void;
  readonly #listeners = new Set<ChangeListener>();

  /** @param bridge its nick at any time */
  constructor(bridge: { readonly nick: string }, onActivity: (activity: ChannelActivity) => void) {
    this.#bridge = bridge;
    this.#onActivity = onActivity;
  }

  /**
   * Calls a listener with the changes of channels that somebody follows.
   *
   * @returns a function that ends the subscription
   */
  onChanged(listener: ChangeListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Tells listeners of a change, if somebody follows the channel. */
  tell({ log }: Channel, change: ChannelChange): void {
    if (log.followers === 0) return;
    for (const listener of this.#listeners) listener(log, change);
  }

  /** Tells what somebody did in a channel. */
  note(
    { name }: Channel,
    kind: ChannelActivity["kind"],
    nick: string,
    { account = null, by = null, to = null }: Partial<
      Pick<ChannelActivity, "account" | "by" | "to">
    > = {},
  ): void {
    const isBridge = this.isUs(nick);
    this.#onActivity({ kind, channel: name, nick, account, by, to, isBridge });
  }

  /** Whether a nick is that of the bridge. */
  isUs(nick: string): boolean {
    return foldCase(nick) === foldCase(this.#bridge.nick);
  }
}
