import { z } from "zod";
import { randomUUID } from "node:crypto";
import type { Database } from "../../database/mod.ts";
import { foldCase, type KeptChannel } from "../../irc/mod.ts";
import type { Log } from "../../log.ts";
import type { Scheduler } from "../../scheduler.ts";
import type { ChannelDirectory } from "./channel_directory.ts";
import { KeySeal } from "./key_seal.ts";

/** How long a write that failed waits for the next try, in milliseconds. */
const RETRY = 5000;

const entrySchema = z.object({ mask: z.string(), setBy: z.string(), setAt: z.number() });

/** The column `state`: a channel as it is kept, with its key encrypted. */
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
  /** With which the keys of channels are encrypted. */
  readonly secret: Uint8Array;
  readonly scheduler: Scheduler;
  readonly log: Log;
}

/**
 * The topics and modes of channels on their way to the database and back. A change is written at
 * once; those that come while a channel is being written are written together after that. What
 * cannot be written is tried again, and meanwhile read from memory.
 */
export class KeptChannels {
  readonly #options: KeptChannelsOptions;
  readonly #seal: KeySeal;
  /** What is not on disk yet, by the folded name. */
  readonly #pending = new Map<string, KeptChannel>();
  /** Writes under way, by the folded name. */
  readonly #writing = new Map<string, Promise<void>>();
  readonly #retries = new Map<string, () => void>();

  constructor(options: KeptChannelsOptions) {
    this.#options = options;
    this.#seal = new KeySeal(options.secret);
  }

  /** The channel of this folded name, as it was last put. */
  find(folded: string): KeptChannel | null {
    const pending = this.#pending.get(folded);
    if (pending !== undefined) return pending;
    const kept = this.#options.directory.get(folded);
    return kept === null ? null : this.#parse(kept.name, kept.state);
  }

  /** Keeps a channel. Resolves when it is on disk, or has to wait for another try. */
  put(channel: KeptChannel): Promise<void> {
    const folded = foldCase(channel.name);
    this.#pending.set(folded, channel);
    if (this.#retries.has(folded)) return Promise.resolve();
    return this.#writing.get(folded) ?? this.#start(folded);
  }

  /** Forgets a channel that is not kept any more. */
  forget(folded: string): void {
    this.#pending.delete(folded);
  }

  /** The channel as the column `state` has it. */
  format({ createdAt, topic, flags, key, userLimit, lists }: KeptChannel): string {
    const sealedKey = key === null ? null : this.#seal.seal(key);
    return JSON.stringify({ createdAt, topic, flags, sealedKey, userLimit, lists });
  }

  /** Writes what is not written yet, once more where that has failed. */
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

  /** Writes until nothing is pending. What is put after that finds no write under way. */
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

  /** A key that cannot be read is replaced by one that nobody knows: the channel stays closed. */
  #parse(name: string, state: string): KeptChannel {
    const { sealedKey, ...rest } = stateSchema.parse(JSON.parse(state));
    const key = sealedKey === null ? null : this.#seal.open(sealedKey) ?? randomUUID();
    return { name, ...rest, key };
  }
}
