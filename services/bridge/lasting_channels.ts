import { foldCase } from "../irc/mod.ts";
import type { Log } from "../log.ts";
import type { Channel } from "./channel.ts";
import type { ChannelStore, StoredChannel } from "./stored_channels.ts";

export interface LastingChannelsOptions {
  /** Names of the channels to be in always. */
  readonly kept: readonly string[];
  /** Where the others are noted; null: nowhere. */
  readonly store: ChannelStore | null;
  /** What the store held at the start. */
  readonly restored: readonly StoredChannel[];
  readonly log: Log;
}

/** The channels that the bridge comes back to: those that it keeps, and those that the store notes. */
export class LastingChannels {
  readonly #store: ChannelStore | null;
  readonly #log: Log;
  /** The names of those that it keeps, by folded name. */
  readonly #kept: Map<string, string>;
  /** What the bridge was in before the restart, until it is asked for. */
  #restored: readonly StoredChannel[];

  constructor(options: LastingChannelsOptions) {
    this.#store = options.store;
    this.#log = options.log;
    this.#kept = new Map(options.kept.map((name) => [foldCase(name), name]));
    this.#restored = options.restored;
  }

  /** The names of the channels that the bridge keeps, whether anybody uses them or not. */
  get kept(): readonly string[] {
    return [...this.#kept.values()];
  }

  /** Whether the bridge keeps a channel. */
  keeps(name: string): boolean {
    return this.#kept.has(foldCase(name));
  }

  /** The channels from before the restart; none when it has been called before. */
  takeRestored(): readonly StoredChannel[] {
    const restored = this.#restored;
    this.#restored = [];
    return restored;
  }

  /**
   * Notes that the bridge comes back to a channel. One that the operator uses no longer counts as
   * the agent's for which the bridge came.
   *
   * @param agent the internal id of the agent that uses it; null for the operator
   * @throws Unavailable where it cannot be noted
   */
  async note(channel: Channel, agent: string | null): Promise<void> {
    if (this.#store === null || this.keeps(channel.name)) return;
    if (agent === null && channel.opener !== null) channel.stored = channel.opener = null;
    const storing = channel.stored ??= this.#store.put(channel);
    try {
      await storing;
    } catch (error) {
      if (channel.stored === storing) channel.stored = null;
      throw error;
    }
  }

  /**
   * Notes that the bridge does not come back to a channel, even one that it keeps.
   *
   * @throws Unavailable where it cannot be noted
   */
  async forget(name: string): Promise<void> {
    await this.#store?.remove(name);
    this.#kept.delete(foldCase(name));
  }

  /** Notes that somebody on IRC has removed the bridge from a channel. */
  removedFrom(channel: Channel): void {
    if (channel.stored === null) return;
    this.#store?.remove(channel.name).catch((error: unknown) => {
      this.#log.warn("The bridge's departure from a channel could not be stored", { error });
    });
  }
}
