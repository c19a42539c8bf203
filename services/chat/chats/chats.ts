import type {
  Bridge,
  ChannelMessage,
  ChannelOverview,
  FoundMessages,
  NewPost,
} from "../bridge/mod.ts";
import { Invalid, NotFound } from "../../kernel/errors.ts";
import type { Caller } from "../../people/identity/mod.ts";
import {
  type AccountView,
  foldCase,
  isChannelName,
  isNick,
  type LastMessage,
} from "../../engines/irc/mod.ts";
import type { VirtualUsers } from "../irc_server/virtual_users/mod.ts";
import { BoundedMap } from "../../kernel/bounded_map.ts";
import { parseSearch } from "../messages/mod.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";

/** Messages on a page of a channel. */
const PAGE = 100;

/** Messages before the one that a page is about. */
const PAGE_BEFORE = 40;

/** Channels in the sidebar. */
const MAX_SIDEBAR = 50;

/** Messages that one search finds at most. */
const MAX_FOUND = 50;

/** Before every message. */
const BEGINNING = "1970-01-01T00:00:00.000000Z";

/** How far accounts have read. Times are in Unix milliseconds. */
export interface ReadPositions {
  readUpTo(account: string, target: string): number | null;
  markRead(account: string, target: string, time: number): Promise<number>;
}

/** A channel of the caller, in the sidebar of every page. */
export interface SidebarChannel {
  /** With its `#`. */
  readonly name: string;
  readonly unread: number;
  /** How many of the unread messages address the caller. */
  readonly mentions: number;
  /** Whether the caller is in it, or returns to it. */
  readonly joined: boolean;
}

/** Somebody in a channel. */
export interface Present {
  readonly nick: string;
  /** The sign of a status, such as `@` for operators; empty for none. */
  readonly sign: string;
}

/** A channel in the list of channels. */
export interface ListedChannel extends ChannelOverview {
  /** Whether the caller is in it. */
  readonly joined: boolean;
  /**
   * When something was last said in a channel that nobody is in, in Unix milliseconds. The next user
   * who joins it reads that. Null for all others.
   */
  readonly keptFrom: number | null;
}

/** The history on disk, which outlives channels. */
interface KeptHistory {
  /** Channels in which something was said that is not confined, and when. Rejects if it is broken. */
  openChannels(): Promise<readonly LastMessage[]>;
}

/** Some messages of a channel, oldest first. */
export interface ChannelPart {
  readonly messages: readonly ChannelMessage[];
  /** Whether there may be older ones. */
  readonly hasOlder: boolean;
  /** Whether there may be newer ones; false if the part ends with the newest. */
  readonly hasNewer: boolean;
}

/** Selects a part of a channel: by default its newest messages. Cursors are times or ids. */
interface PartQuery {
  readonly before?: string | undefined;
  readonly after?: string | undefined;
  /** The id of a message, which the part then has in its middle. */
  readonly at?: string | undefined;
}

export interface ChatsOptions {
  /** Null if the configuration turns the bridge off. */
  readonly bridge: Bridge | null;
  readonly virtualUsers: Pick<VirtualUsers, "channelsOf" | "identityOf">;
  /** Null on an external network. */
  readonly view: AccountView | null;
  readonly positions: ReadPositions;
  /** Whether an account is in a channel with an IRC client. */
  readonly isMember: (account: string, channel: string) => boolean;
  /** The number of messages that the bridge keeps for a channel. */
  readonly bufferSize: number;
  /** Null if no history is stored. */
  readonly history: KeptHistory | null;
  readonly scheduler: Scheduler;
}

/** The channels, as a person or an admin sees them who is logged in to the web pages. */
export class Chats {
  readonly #options: ChatsOptions;
  readonly #mentions = new MentionCounts();

  constructor(options: ChatsOptions) {
    this.#options = options;
  }

  /** @throws NotFound if the configuration turns the bridge off */
  get bridge(): Bridge {
    const { bridge } = this.#options;
    if (bridge !== null) return bridge;
    throw new NotFound("There are no channels: bridge.enabled is false in the configuration");
  }

  /**
   * The caller's first channels, sorted by name, and then the others that it may read and was
   * addressed in. Answers from memory.
   *
   * @param names decides whether a message addresses the caller
   */
  sidebar(caller: Caller, names: NameTest): SidebarChannel[] {
    const { bridge } = this.#options;
    if (bridge === null) return [];
    const joined = this.#joined(caller);
    const own = joined.slice(0, MAX_SIDEBAR).map((channel) => {
      const counts = this.#countsIn(channel, this.readUpTo(caller, channel), caller, names);
      return { name: channel, ...counts, joined: true };
    });
    const known = new Set(own.map(({ name }) => foldCase(name)));
    const isJoined = new Set(joined.map(foldCase));
    const others: SidebarChannel[] = [];
    for (const channel of [...bridge.channels()].sort()) {
      if (known.has(foldCase(channel)) || others.length >= MAX_SIDEBAR) continue;
      // What nobody has read yet counts from the beginning.
      const counts = this.#countsIn(channel, this.readUpTo(caller, channel) ?? 0, caller, names);
      if (counts.mentions === 0 || !bridge.mayRead(channel, caller)) continue;
      others.push({ name: channel, ...counts, joined: isJoined.has(foldCase(channel)) });
    }
    return [...own, ...others];
  }

  /** How many of the caller's channels are not among the first, which the sidebar shows. */
  beyondSidebar(caller: Caller): number {
    return this.#options.bridge === null
      ? 0
      : Math.max(this.#joined(caller).length - MAX_SIDEBAR, 0);
  }

  #countsIn(
    channel: string,
    readUpTo: number | null,
    { principal: { name: account } }: Caller,
    names: NameTest,
  ): { readonly unread: number; readonly mentions: number } {
    const unread = this.bridge.unread(channel, readUpTo);
    const mentions = this.#mentions.of({ account, channel, readUpTo }, unread, names);
    return { unread: unread.length, mentions };
  }

  /**
   * Who is in a channel, operators first, then those with a voice, each sorted by nick. Empty for a
   * channel that the bridge is not in.
   *
   * @throws Forbidden or NotFound if the caller may not read it
   */
  async here(channel: string, caller: Caller): Promise<Present[]> {
    const nicks = await this.bridge.users(channel, caller).catch((error: unknown) => {
      if (error instanceof NotFound && this.bridge.mayRead(channel, caller)) return [];
      throw error;
    });
    return nicks.map((nick) => this.present(channel, nick)).sort((one, other) =>
      rankOf(one) - rankOf(other)
    );
  }

  /** Somebody in a channel. */
  present(channel: string, nick: string): Present {
    return { nick, sign: this.#options.view?.sign(channel, nick) ?? "" };
  }

  /**
   * The channels that the caller may read: its own first, those that nobody is in last, each part
   * sorted by name.
   */
  async list(caller: Caller): Promise<ListedChannel[]> {
    await this.bridge.whenReady();
    const own = new Set(this.#joined(caller).map(foldCase));
    const held = this.bridge.overviews(caller, (name) => this.readUpTo(caller, name))
      .map((channel) => ({ ...channel, keptFrom: null }));
    const known = new Set(held.map(({ name }) => foldCase(name)));
    const isOther = (name: string) =>
      !known.has(foldCase(name)) && this.bridge.mayRead(name, caller);
    const others = this.#onServer(caller).filter(({ name }) => isOther(name))
      .map(({ name, topic, members }) => {
        return { name, topic, members, last: null, unread: 0, keptFrom: null };
      });
    const ended = (await this.#ended()).filter(({ name }) =>
      isChannelName(name) && isOther(name) && !this.bridge.exists(name)
    );
    return [...held, ...others, ...ended]
      .map((channel) => ({ ...channel, joined: own.has(foldCase(channel.name)) }))
      .sort((one, other) =>
        rankInList(one) - rankInList(other) || (one.name < other.name ? -1 : 1)
      );
  }

  /** Whether the caller could join a channel that nobody is in. */
  isEmpty(channel: string, caller: Caller): boolean {
    return !this.bridge.exists(channel) && this.bridge.mayRead(channel, caller);
  }

  /** Whether the caller is in a channel. */
  isIn(channel: string, caller: Caller): boolean {
    const folded = foldCase(channel);
    return this.#joined(caller).some((name) => foldCase(name) === folded);
  }

  /** Joins a channel, and makes it if it does not exist. Throws what `Bridge.join` throws. */
  async join(channel: string, caller: Caller): Promise<void> {
    await this.bridge.join(channel, caller);
    if (this.readUpTo(caller, channel) === null) {
      await this.markRead(channel, this.#options.scheduler.now(), caller);
    }
  }

  /** Leaves a channel. Throws what `Bridge.part` throws. */
  async leave(channel: string, caller: Caller): Promise<void> {
    await this.bridge.part(channel, caller);
  }

  /** Says something in a channel, and notes that the caller has read it. */
  async say(channel: string, post: Omit<NewPost, "nick">, caller: Caller): Promise<void> {
    await this.bridge.post(channel, post, caller);
    await this.markRead(channel, this.#options.scheduler.now(), caller);
  }

  /** Changes the topic of a channel. Throws what `Bridge.setTopic` throws. */
  async setTopic(channel: string, text: string, caller: Caller): Promise<void> {
    await this.bridge.setTopic(channel, text, caller);
  }

  /**
   * Reads a part of a channel.
   *
   * @throws what `Bridge.messages` throws
   */
  async part(channel: string, query: PartQuery, caller: Caller): Promise<ChannelPart> {
    const limit = Math.min(PAGE, this.#options.bufferSize);
    const { before, after, at } = query;
    if (at !== undefined) return await this.#partAround(channel, at, caller);
    if (after !== undefined) {
      const messages = await this.bridge.messages(channel, { since: after, limit }, caller);
      const isFull = messages.length === limit;
      return { messages, hasOlder: true, hasNewer: isFull };
    }
    const messages = await this.bridge.messages(channel, { before, limit }, caller);
    const found = messages.length < limit && before === undefined && messages[0] !== undefined
      ? await this.#fill(channel, messages, limit, caller)
      : messages;
    return { messages: found, hasOlder: found.length >= limit, hasNewer: before !== undefined };
  }

  /**
   * Searches the messages of a channel for words, whatever their case, from the newest on. Each word
   * must be in the text, or be the nick of the speaker with a `from:` before it.
   *
   * @param before continues a search
   * @throws what `Bridge.search` throws
   */
  async search(
    channel: string,
    words: string,
    before: string | undefined,
    caller: Caller,
  ): Promise<FoundMessages> {
    const wanted = { sought: parseSearch(words), before, limit: MAX_FOUND };
    return await this.bridge.search(channel, wanted, caller);
  }

  /** How far the caller has read a channel or a conversation, in Unix milliseconds. */
  readUpTo({ principal }: Caller, target: string): number | null {
    return this.#options.positions.readUpTo(principal.name, target);
  }

  /**
   * Moves the caller's read marker forward. IRC clients of the account are told.
   *
   * @param time Unix milliseconds
   * @throws Invalid if the target is neither a channel nor a nick
   */
  async markRead(target: string, time: number, { principal }: Caller): Promise<void> {
    if (!isChannelName(target) && !isNick(target)) {
      throw new Invalid("This is neither a channel nor a nick");
    }
    await this.#options.positions.markRead(principal.name, target, time);
  }

  /** The newest messages, with older ones that the bridge no longer has in memory. */
  async #fill(
    channel: string,
    newest: readonly ChannelMessage[],
    limit: number,
    caller: Caller,
  ): Promise<readonly ChannelMessage[]> {
    const before = newest[0]?.timestamp;
    const query = { before, limit: limit - newest.length };
    return [...await this.bridge.messages(channel, query, caller), ...newest];
  }

  async #partAround(channel: string, at: string, caller: Caller): Promise<ChannelPart> {
    const { bufferSize } = this.#options;
    const limit = Math.min(PAGE, bufferSize);
    const before = await this.bridge.messages(
      channel,
      { before: at, limit: Math.min(PAGE_BEFORE, bufferSize) },
      caller,
    );
    const since = before.at(-1)?.timestamp ?? BEGINNING;
    const rest = await this.bridge.messages(channel, { since, limit }, caller);
    return {
      messages: [...before, ...rest],
      hasOlder: before.length > 0,
      hasNewer: rest.length === limit,
    };
  }

  /** The channels that the caller is in, and those that it returns to, sorted by name. */
  #joined(caller: Caller): string[] {
    const { bridge, virtualUsers, isMember } = this.#options;
    const { id, name } = caller.principal;
    const joined = new Map<string, string>();
    for (const channel of id === null ? [] : virtualUsers.channelsOf(id)) {
      joined.set(foldCase(channel), channel);
    }
    for (const channel of bridge?.channels() ?? []) {
      if (isMember(name, channel)) joined.set(foldCase(channel), channel);
    }
    return [...joined.values()].sort();
  }

  /** The channels with a history that may have ended. Those that exist are among them. */
  async #ended(): Promise<Omit<ListedChannel, "joined">[]> {
    const kept = await this.#options.history?.openChannels().catch(() => []) ?? [];
    return kept.map(({ title, time }) => {
      return { name: title, topic: "", members: 0, last: null, unread: 0, keptFrom: time };
    });
  }

  /** The channels of the IRC server that the caller may know of. */
  #onServer({ principal }: Caller) {
    const { view, virtualUsers } = this.#options;
    const identity = principal.id === null ? null : virtualUsers.identityOf(principal.id);
    if (view === null || identity === null) return [];
    return principal.kind === "admin" ? view.allChannels() : view.channels(identity);
  }
}

/** Where a channel stands in the list of them. */
function rankInList({ joined, keptFrom }: ListedChannel): number {
  return joined ? 0 : keptFrom === null ? 1 : 2;
}

/** Where somebody stands in the list of a channel. */
function rankOf({ sign }: Present): number {
  return "@+".includes(sign) && sign !== "" ? "@+".indexOf(sign) : 2;
}

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
