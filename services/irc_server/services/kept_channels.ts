import { z } from "zod";
import { randomUUID } from "node:crypto";
import type { Database } from "../../database/mod.ts";
import { foldCase, type KeptChannel } from "../../irc/mod.ts";
import type { Log } from "../../log.ts";
import type { Scheduler } from "../../scheduler.ts";
import type { ChannelDirectory } from "./channel_directory.ts";
import { KeySeal } from "./key_seal.ts";

/** How long a failed write waits before it is tried again, in milliseconds. */
const RETRY = 5000;

const entrySchema = z.object({ mask: z.string(), setBy: z.string(), setAt: z.number() });

/** The column `state`: a stored channel, with its key encrypted. */
const stateSchema = z.object({
  createdAt: z.number(),
  topic: z.object({ text: z.string(), setBy: z.string(), setAt: z.number() }).nullable(),
  flags: z.string(),
  sealedKey: z.string().nullable(),
  userLimit: z.number().nullable(),
  lists: z.record(z.string(), z.array(entrySchema)),
});

export interface KeptChannelsOptions {
  readonly database: Pick<Database, "commit">;
  readonly directory: Pick<ChannelDirectory, "get" | "noting">;
  /** Encrypts the keys of channels. */
  readonly secret: Uint8Array;
  readonly scheduler: Scheduler;
  readonly log: Log;
}

/**
 * Stores the topics and modes of channels in the database. A change is written at once; changes
 * that arrive during a write are combined into the next one. A failed write is tried again;
 * meanwhile, reads come from memory.
 */
export class KeptChannels {
  readonly #options: KeptChannelsOptions;
  readonly #seal: KeySeal;
  /** Unwritten states, by the folded name. */
  readonly #pending = new Map<string, KeptChannel>();
  /** Running writes, by the folded name. */
  readonly #writing = new Map<string, Promise<void>>();
  readonly #retries = new Map<string, () => void>();

  constructor(options: KeptChannelsOptions) {
    this.#options = options;
    this.#seal = new KeySeal(options.secret);
  }

  /** The last state of the channel with this folded name. */
  find(folded: string): KeptChannel | null {
    const pending = this.#pending.get(folded);
    if (pending !== undefined) return pending;
    const kept = this.#options.directory.get(folded);
    return kept === null ? null : this.#parse(kept.name, kept.state);
  }

  /** Stores a channel. Resolves when it is on disk, or must be tried again. */
  put(channel: KeptChannel): Promise<void> {
    const folded = foldCase(channel.name);
    this.#pending.set(folded, channel);
    if (this.#retries.has(folded)) return Promise.resolve();
    return this.#writing.get(folded) ?? this.#start(folded);
  }

  /** Forgets a channel that is no longer kept. */
  forget(folded: string): void {
    this.#pending.delete(folded);
  }

  /** The value of the column `state` for a channel. */
  format({ createdAt, topic, flags, key, userLimit, lists }: KeptChannel): string {
    const sealedKey = key === null ? null : this.#seal.seal(key);
    return JSON.stringify({ createdAt, topic, flags, sealedKey, userLimit, lists });
  }

  /** Writes everything pending, including what has failed before. */
  async close(): Promise<void> {
    for (const [folded, cancel] of this.#retries) {
      cancel();
      this.#start(folded);
    }
    await Promise.all(this.#writing.values());
    for (const cancel of this.#retries.values()) cancel();
  }

  #start(folded: string): Promise<void> {
    this.#retries.delete(folded);
    if (!this.#pending.has(folded)) return Promise.resolve();
    const writing = this.#write(folded);
    this.#writing.set(folded, writing);
    return writing;
  }

  /** Writes until nothing is pending. */
  async #write(folded: string): Promise<void> {
    const { log, scheduler } = this.#options;
    try {
      for (let next = this.#pending.get(folded); next; next = this.#pending.get(folded)) {
        await this.#update(folded, next);
        if (this.#pending.get(folded) === next) this.#pending.delete(folded);
      }
    } catch (error) {
      log.warn("The topic and modes of an IRC channel could not be stored", { error });
      this.#retries.set(folded, scheduler.after(RETRY, () => void this.#start(folded)));
    } finally {
      this.#writing.delete(folded);
    }
  }

  async #update(folded: string, channel: KeptChannel): Promise<void> {
    const { database, directory } = this.#options;
    await database.commit({ statements: [directory.noting(folded, this.format(channel))] });
  }

  /** An unreadable key is replaced by a random one, so that the channel stays closed. */
  #parse(name: string, state: string): KeptChannel {
    const { sealedKey, ...rest } = stateSchema.parse(JSON.parse(state));
    const key = sealedKey === null ? null : this.#seal.open(sealedKey) ?? randomUUID();
    return { name, ...rest, key };
  }
}
