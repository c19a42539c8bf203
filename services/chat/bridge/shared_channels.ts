import { type Database, type Directory, statement } from "../../engines/database/mod.ts";
import { foldCase } from "../../engines/irc/mod.ts";
import { type ChannelStore, type StoredChannel, StoredChannels } from "./lasting_channels.ts";

/** How long a use counts before this node records the next one, in milliseconds. */
const USE_MILLISECONDS = 10 * 60_000;

/** How channels that nodes share have changed. */
export interface ChannelsChange {
  readonly current: readonly StoredChannel[];
  /** The folded names of those that are gone. */
  readonly removed: readonly string[];
}

/** The store of channels that the bridges of several nodes are in. */
export interface SharedChannelStore extends ChannelStore {
  /** All of them, as of now. */
  readonly current: readonly StoredChannel[];
  /** Calls the only listener with what other nodes change. It must not throw. */
  follow(listener: (change: ChannelsChange) => void): void;
  /**
   * Notes that somebody uses a channel, for all nodes.
   *
   * @param agent an internal id; null for the operator
   * @param at Unix milliseconds
   */
  used(name: string, agent: string | null, at: number): void;
  /** Records the uses that only this node knows of. Resolves when they are on disk. */
  flush(): Promise<void>;
  /**
   * Forgets an agent's use of a channel, and removes the channel unless somebody else has used it
   * after a time.
   *
   * @param agent null to forget nobody's
   * @param after Unix milliseconds
   * @returns whether the channel is removed
   * @throws Unavailable if the database cannot be written
   */
  release(name: string, agent: string | null, after: number): Promise<boolean>;
}

interface Use {
  readonly channel: string;
  readonly visitor: string;
  readonly at: number;
}

/**
 * The channels of all nodes' bridges, in memory. A channel that one node enters or leaves is entered
 * or left by the others: those that the configuration names, and those that somebody asked for.
 */
export class SharedChannels implements SharedChannelStore, Directory {
  readonly tables = ["bridge_channels"] as const;
  readonly #database: Database;
  readonly #stored: StoredChannels;
  /** By folded name. */
  readonly #known = new Map<string, StoredChannel>();
  readonly #unrecorded = new Map<string, Use>();
  /** When each use was last recorded, the oldest first. */
  readonly #recordedAt = new Map<string, number>();
  #flushing: Promise<void> = Promise.resolve();
  #listener: (change: ChannelsChange) => void = () => {};

  private constructor(database: Database) {
    this.#database = database;
    this.#stored = new StoredChannels(database);
  }

  /**
   * Reads all channels, after adding those that the configuration names.
   *
   * @param kept their names, with `#`
   */
  static async open(database: Database, kept: readonly string[]): Promise<SharedChannels> {
    const channels = new SharedChannels(database);
    for (const name of kept) await channels.#stored.put({ name, opener: null });
    await database.keepCurrent(channels);
    return channels;
  }

  get current(): readonly StoredChannel[] {
    return [...this.#known.values()];
  }

  async load(): Promise<void> {
    const rows = await this.#stored.list();
    const now = new Map(rows.map((row) => [foldCase(row.name), row]));
    const removed = [...this.#known.keys()].filter((name) => !now.has(name));
    for (const name of removed) this.#drop(name);
    this.#known.clear();
    for (const [name, row] of now) this.#known.set(name, row);
    this.#listener({ current: rows, removed });
  }

  follow(listener: (change: ChannelsChange) => void): void {
    this.#listener = listener;
  }

  async put({ name, opener }: StoredChannel): Promise<void> {
    const committed = () => void this.#known.set(foldCase(name), { name, opener });
    await this.#database.commit({
      statements: [statement(this.#stored.putting({ name, opener }), { committed })],
    });
  }

  async remove(name: string): Promise<void> {
    const channel = foldCase(name);
    const { tables } = this.#database;
    await this.#database.commit({
      statements: [
        statement(tables.deleteFrom("bridge_channels").where("name_folded", "=", channel), {
          committed: () => this.#drop(channel),
        }),
        ...this.#clearing(channel),
      ],
    });
  }

  used(name: string, agent: string | null, at: number): void {
    const use = { channel: foldCase(name), visitor: agent ?? "", at };
    const key = `${use.channel} ${use.visitor}`;
    this.#unrecorded.set(key, use);
    if (at - (this.#recordedAt.get(key) ?? -Infinity) < USE_MILLISECONDS) return;
    this.flush().catch(() => {});
  }

  flush(): Promise<void> {
    return this.#flushing = this.#flushing.catch(() => {}).then(() => this.#record());
  }

  async release(name: string, agent: string | null, after: number): Promise<boolean> {
    const channel = foldCase(name);
    const { tables } = this.#database;
    if (agent !== null) this.#unrecorded.delete(`${channel} ${agent}`);
    await this.flush();
    const forgetting = agent === null ? [] : [
      statement(
        tables.deleteFrom("channel_visits").where("channel", "=", channel)
          .where("kind", "=", "use").where("visitor", "=", agent),
      ),
    ];
    const removing = tables.deleteFrom("bridge_channels").where("name_folded", "=", channel)
      .where(({ exists, not, selectFrom }) =>
        not(exists(
          selectFrom("channel_visits").select("visitor").where("channel", "=", channel)
            .where("kind", "=", "use").where("at", ">", after),
        ))
      );
    const committed = (changes: number) => {
      if (changes > 0) this.#drop(channel);
    };
    const { changes } = await this.#database.commit({
      statements: [
        ...forgetting,
        statement(removing, { committed }),
        ...this.#clearing(channel),
      ],
    });
    if (agent !== null) this.#recordedAt.delete(`${channel} ${agent}`);
    return (changes[forgetting.length] ?? 0) > 0;
  }

  /** The statements that remove what belongs to a channel that no bridge is in. */
  #clearing(channel: string) {
    const { tables } = this.#database;
    const gone = tables.selectFrom("bridge_channels").select("name_folded")
      .where("name_folded", "=", channel);
    return (["channel_lines", "channel_visits"] as const).map((table) =>
      statement(
        tables.deleteFrom(table).where("channel", "=", channel)
          .where(({ exists, not }) => not(exists(gone))),
      )
    );
  }

  async #record(): Promise<void> {
    const uses = [...this.#unrecorded];
    if (uses.length === 0) return;
    this.#unrecorded.clear();
    const { tables } = this.#database;
    const statements = uses.map(([, { channel, visitor, at }]) =>
      statement(
        tables.insertInto("channel_visits").values({ channel, kind: "use", visitor, nick: "", at })
          .onConflict((conflict) =>
            conflict.columns(["channel", "kind", "visitor"]).doUpdateSet({ at })
              .where("channel_visits.at", "<", at)
          ),
      )
    );
    try {
      await this.#database.commit({ statements });
    } catch (error) {
      for (const [key, use] of uses) {
        if (!this.#unrecorded.has(key)) this.#unrecorded.set(key, use);
      }
      throw error;
    }
    for (const [key, { at }] of uses) {
      this.#recordedAt.delete(key);
      this.#recordedAt.set(key, at);
    }
    this.#forgetOld(Math.max(...uses.map(([, { at }]) => at)));
  }

  /** Forgets which uses were recorded so long ago that the next one is recorded in any case. */
  #forgetOld(now: number): void {
    for (const [key, at] of this.#recordedAt) {
      if (now - at < USE_MILLISECONDS) return;
      this.#recordedAt.delete(key);
    }
  }

  /** Forgets a channel; if it is entered again, its uses are recorded anew. */
  #drop(channel: string): void {
    this.#known.delete(channel);
    for (const key of this.#recordedAt.keys()) {
      if (key.startsWith(`${channel} `)) this.#recordedAt.delete(key);
    }
  }
}
