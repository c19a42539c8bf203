import type { Database } from "../../database/mod.ts";
import { foldCase, type KeptChannel } from "../../irc/mod.ts";
import type { Log } from "../../log.ts";
import type { Scheduler } from "../../scheduler.ts";
import type { ChannelDirectory } from "./channel_directory.ts";
import { ChannelStates } from "./channel_states.ts";
import { LatestWrites } from "./latest_writes.ts";

export interface KeptChannelsOptions {
  readonly database: Pick<Database, "commit">;
  readonly directory: Pick<ChannelDirectory, "get" | "noting">;
  /** Encrypts the keys of channels. */
  readonly secret: Uint8Array;
  readonly scheduler: Scheduler;
  readonly log: Log;
}

/**
 * Stores the topics and modes of registered channels in the database. If a write fails, it is tried
 * again; meanwhile, reads come from memory.
 */
export class KeptChannels {
  readonly #options: KeptChannelsOptions;
  readonly #states: ChannelStates;
  /** By the folded name. */
  readonly #writes: LatestWrites<KeptChannel>;

  constructor(options: KeptChannelsOptions) {
    this.#options = options;
    this.#states = new ChannelStates(options.secret);
    this.#writes = new LatestWrites({
      ...options,
      write: (folded, channel) => this.#update(folded, channel),
      failure: "The topic and modes of an IRC channel could not be stored",
    });
  }

  /** The last state of the channel with this folded name. */
  find(folded: string): KeptChannel | null {
    const pending = this.#writes.pending(folded);
    if (pending !== undefined) return pending;
    const kept = this.#options.directory.get(folded);
    return kept === null ? null : this.#states.parse(kept.name, kept.state);
  }

  /** Stores a channel. Tells whether it is on disk; if not, it is tried again. */
  put(channel: KeptChannel): Promise<boolean> {
    return this.#writes.put(foldCase(channel.name), channel);
  }

  /** Forgets a channel that is no longer kept. */
  forget(folded: string): void {
    this.#writes.forget(folded);
  }

  /** The value of the column `state` for a channel. */
  format(channel: KeptChannel): string {
    return this.#states.format(channel);
  }

  /** Writes everything pending, including what has failed before. */
  close(): Promise<void> {
    return this.#writes.close();
  }

  async #update(folded: string, channel: KeptChannel): Promise<void> {
    const { database, directory } = this.#options;
    await database.commit({ statements: [directory.noting(folded, this.format(channel))] });
  }
}
