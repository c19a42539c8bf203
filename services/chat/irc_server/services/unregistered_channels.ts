import { type Database, type Statement, statement } from "../../../engines/database/mod.ts";
import type { AccountDirectory } from "../../../people/identity/mod.ts";
import {
  type ChannelKeeper,
  foldCase,
  hasDefaultState,
  isConfined,
  isSealed,
  type Keeping,
  type KeptChannel,
} from "../../../engines/irc/mod.ts";
import type { Log } from "../../../kernel/log.ts";
import type { Scheduler } from "../../../kernel/scheduler.ts";
import { ChannelStates, LatestWrites } from "./channel_states.ts";
import type { RegisteredChannels } from "./registered_channels.ts";

/** How long an empty channel waits for its founder and its members, in milliseconds. */
const WAIT = 30 * 24 * 60 * 60 * 1000;

/** The most channels of one founder that are stored, and that wait without members. */
const PER_FOUNDER = 100;
const WAITING_PER_FOUNDER = 20;

/** The most stored channels without a founder. */
const WITHOUT_FOUNDER = 2000;

/** The most stored channels in all. */
const IN_ALL = 20_000;

interface UnregisteredChannelsOptions {
  readonly database: Pick<Database, "tables" | "commit">;
  readonly accounts: Pick<AccountDirectory, "get" | "find">;
  /** Whether a channel belongs to the program, and so always comes back. */
  readonly owns: (channel: string) => boolean;
  /** Called before a sealed channel is forgotten: its messages must not be read by others. */
  readonly onForgotten: (channel: string) => void;
  /** Encrypts the keys of channels. */
  readonly secret: Uint8Array;
  readonly scheduler: Scheduler;
  readonly log: Log;
}

/** A stored channel. */
interface Stored {
  readonly channel: KeptChannel;
  /** The internal id of the founder; null if it has none. */
  readonly founderId: string | null;
  /** The internal ids of those who may return. */
  readonly memberIds: readonly string[];
  /** Since when it has no members, in Unix milliseconds; null while it has some. */
  readonly emptySince: number | null;
}

/**
 * The topics and modes of channels that nobody registered. They come back after a restart, so that
 * nobody reads a channel whose modes kept it out. A channel that its last member leaves is forgotten,
 * unless its modes keep others out and its founder has an account: then it waits 30 days. All of them
 * are also in memory.
 */
export class UnregisteredChannels {
  readonly #options: UnregisteredChannelsOptions;
  readonly #states: ChannelStates;
  /** By the folded name. */
  readonly #stored = new Map<string, Stored>();
  /** By the folded name; null removes a channel. */
  readonly #writes: LatestWrites<Stored | null>;

  private constructor(options: UnregisteredChannelsOptions) {
    this.#options = options;
    this.#states = new ChannelStates(options.secret);
    this.#writes = new LatestWrites({
      ...options,
      write: async (folded, stored) => {
        await options.database.commit({ statements: [this.#statementOf(folded, stored)] });
      },
      failure: "The topic and modes of an IRC channel could not be stored",
    });
  }

  /** Reads all of them from the database. Those that had members wait from now on. */
  static async open(options: UnregisteredChannelsOptions): Promise<UnregisteredChannels> {
    const channels = new UnregisteredChannels(options);
    const rows = await options.database.tables.selectFrom("irc_unregistered_channels").selectAll()
      .execute();
    const now = options.scheduler.now();
    for (const { name, name_folded, state, founder_id, member_ids, empty_since } of rows) {
      channels.#stored.set(name_folded, {
        channel: channels.#states.parse(name, state),
        founderId: founder_id,
        memberIds: JSON.parse(member_ids),
        emptySince: empty_since ?? now,
      });
    }
    return channels;
  }

  /** The state of the channel with this folded name; null if there is none. */
  find(folded: string): KeptChannel | null {
    const stored = this.#stored.get(folded);
    if (stored === undefined) return null;
    const founder = this.#nameOf(stored.founderId);
    const members = stored.memberIds.flatMap((id) => this.#nameOf(id) ?? []);
    if (this.#isOver(stored, founder, members)) {
      this.#forget(folded, stored);
      return null;
    }
    return { ...stored.channel, unregistered: { founder, members } };
  }

  /** As `ChannelKeeper.changed` of the IRC engine. */
  async changed(channel: KeptChannel): Promise<Keeping> {
    const folded = foldCase(channel.name);
    const isStored = await this.#change(folded, channel);
    return isStored === null ? "full" : isStored ? "stored" : "refused";
  }

  /** @returns null if there is no room for one more channel */
  #change(folded: string, channel: KeptChannel): Promise<boolean> | boolean | null {
    if (hasDefaultState(channel)) return this.remove(folded);
    const stored = this.#storedForm(channel, null);
    const before = this.#stored.get(folded);
    if (before === undefined && !this.#hasRoom(stored)) return null;
    const isSame = JSON.stringify(before) === JSON.stringify(stored);
    if (isSame && this.#writes.pending(folded) === undefined) return true;
    return this.#put(folded, stored);
  }

  /** As `ChannelKeeper.emptied` of the IRC engine. */
  emptied(channel: KeptChannel): boolean {
    const folded = foldCase(channel.name);
    if (!this.#stored.has(folded)) return false;
    const stored = this.#storedForm(channel, this.#options.scheduler.now());
    const isOwned = this.#options.owns(channel.name);
    if (!isOwned && (stored.founderId === null || !refusesOthers(channel))) {
      this.remove(folded);
      return false;
    }
    this.#put(folded, stored);
    if (!isOwned) this.#limitWaiting(stored.founderId);
    return true;
  }

  /** As `ChannelKeeper.renamed` of the IRC engine. */
  async renamed(before: string, channel: KeptChannel): Promise<Keeping> {
    const folded = foldCase(before);
    const isMoved = folded !== foldCase(channel.name) && this.#stored.delete(folded);
    const changed = this.changed(channel);
    // Written after the new name: a kill between leaves both, and no channel without its modes.
    const isRemoved = !isMoved || await this.#writes.put(folded, null);
    const keeping = await changed;
    return keeping === "stored" && !isRemoved ? "refused" : keeping;
  }

  /** Removes the channel with this folded name. Tells whether that is on disk. */
  remove(folded: string): Promise<boolean> | boolean {
    const isGone = !this.#stored.delete(folded) && this.#writes.pending(folded) === undefined;
    return isGone || this.#writes.put(folded, null);
  }

  /** Waits for running writes. */
  close(): Promise<void> {
    return this.#writes.close();
  }

  #put(folded: string, stored: Stored): Promise<boolean> {
    this.#stored.set(folded, stored);
    return this.#writes.put(folded, stored);
  }

  #storedForm({ unregistered, ...channel }: KeptChannel, emptySince: number | null): Stored {
    const { accounts } = this.#options;
    const { founder = null, members = [] } = unregistered ?? {};
    return {
      channel,
      founderId: founder === null ? null : accounts.find(founder)?.id ?? null,
      memberIds: members.flatMap((name) => accounts.find(name)?.id ?? []),
      emptySince,
    };
  }

  /** Whether nobody can come back to an empty channel, or it has waited long enough. */
  #isOver(
    { channel, founderId, emptySince }: Stored,
    founder: string | null,
    members: readonly string[],
  ): boolean {
    if (emptySince === null || this.#options.owns(channel.name)) return false;
    if (this.#options.scheduler.now() - emptySince > WAIT) return true;
    return founderId !== null && founder === null && members.length === 0;
  }

  /** Whether one more channel may be stored. Those of the program have no limit. */
  #hasRoom({ channel, founderId }: Stored): boolean {
    const { log, owns } = this.#options;
    if (owns(channel.name)) return true;
    let others = 0;
    for (const stored of this.#stored.values()) if (stored.founderId === founderId) others++;
    const most = founderId === null ? WITHOUT_FOUNDER : PER_FOUNDER;
    if (others < most && this.#stored.size < IN_ALL) return true;
    log.warn("The modes of an IRC channel are not stored: there are too many channels", {
      channel: channel.name,
    });
    return false;
  }

  /** Forgets the waiting channels of a founder beyond the limit, the first ones first. */
  #limitWaiting(founderId: string | null): void {
    const waiting = [...this.#stored]
      .filter(([, stored]) => stored.founderId === founderId && stored.emptySince !== null)
      .filter(([, { channel }]) => !this.#options.owns(channel.name))
      .sort(([, one], [, other]) => Number(one.emptySince) - Number(other.emptySince));
    for (const [folded, stored] of waiting.slice(0, -WAITING_PER_FOUNDER)) {
      this.#forget(folded, stored);
    }
  }

  #forget(folded: string, { channel }: Stored): void {
    if (isSealed(channel)) this.#options.onForgotten(channel.name);
    this.remove(folded);
  }

  /** The name of an account that exists and is not revoked. */
  #nameOf(id: string | null): string | null {
    const account = id === null ? null : this.#options.accounts.get(id);
    return account === null || account.revokedAt !== null ? null : account.name;
  }

  #statementOf(folded: string, stored: Stored | null): Statement {
    const { tables } = this.#options.database;
    if (stored === null) {
      return statement(
        tables.deleteFrom("irc_unregistered_channels").where("name_folded", "=", folded),
      );
    }
    const { channel, founderId, memberIds, emptySince } = stored;
    const values = {
      state: this.#states.format(channel),
      founder_id: founderId,
      member_ids: JSON.stringify(memberIds),
      empty_since: emptySince,
    };
    return statement(
      tables.insertInto("irc_unregistered_channels")
        .values({ name_folded: folded, name: channel.name, ...values })
        .onConflict((conflict) => conflict.column("name_folded").doUpdateSet(values)),
    );
  }
}

/**
 * Whether a channel keeps others out even when it is empty. A channel that is only secret does not:
 * who knows its name can join it.
 */
function refusesOthers(channel: KeptChannel): boolean {
  return isConfined(channel) || (isSealed(channel) && !channel.flags.includes("s"));
}

/** What is stored of channels, registered or not. A registered channel comes first. */
export class ChannelStore implements ChannelKeeper {
  readonly #registered: RegisteredChannels;
  readonly #unregistered: UnregisteredChannels;

  constructor(registered: RegisteredChannels, unregistered: UnregisteredChannels) {
    this.#registered = registered;
    this.#unregistered = unregistered;
  }

  find(channel: string): KeptChannel | null {
    return this.#registered.find(channel) ?? this.#unregistered.find(foldCase(channel));
  }

  async changed(channel: KeptChannel): Promise<Keeping> {
    if (!this.#registered.isRegistered(channel.name)) return this.#unregistered.changed(channel);
    const isStored = await this.#registered.changed(channel);
    // A registered channel comes first, so a row that stays does no harm.
    await this.#unregistered.remove(foldCase(channel.name));
    return isStored ? "stored" : "refused";
  }

  emptied(channel: KeptChannel): boolean {
    return this.#unregistered.emptied(channel);
  }

  renamed(before: string, channel: KeptChannel): Promise<Keeping> {
    return this.#unregistered.renamed(before, channel);
  }
}
