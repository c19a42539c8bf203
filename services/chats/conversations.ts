import type { NewPost } from "../bridge/mod.ts";
import { Invalid, NotFound } from "../errors.ts";
import type { AccountDirectory, Caller } from "../identity/mod.ts";
import type { DirectMessages } from "../inboxes/mod.ts";
import {
  type AccountView,
  type Correspondent,
  foldCase,
  isNick,
  type PrivateMessage,
  type UserIdentity,
} from "../irc/mod.ts";
import { type Gap, parseMicroseconds } from "../messages/mod.ts";
import type { VirtualUsers } from "../irc_server/virtual_users/mod.ts";
import { BoundedMap } from "../kernel/bounded_map.ts";
import type { Scheduler } from "../scheduler.ts";
import type { ReadPositions } from "./chats.ts";
import { MAX_CORRESPONDENTS, type PrivateFeed } from "./private_feed.ts";

/** Messages on a page of a conversation. */
const PAGE = 100;

/** Most messages that a reader who comes back has missed. */
const MAX_MISSED = 1000;

/** Accounts of which that is remembered. */
const MAX_RECALLED = 1000;

/** Conversations in the list. */
const MAX_LISTED = 200;

/** A part of a conversation, oldest message first. */
export interface Conversation {
  /** The nick of the other side, as its account writes it. */
  readonly nick: string;
  readonly messages: readonly PrivateMessage[];
  readonly hasOlder: boolean;
}

/** A conversation in the list. */
export interface ListedConversation extends Correspondent {
  readonly isUnread: boolean;
}

export interface ConversationsOptions {
  readonly directMessages: Pick<DirectMessages, "send">;
  readonly accounts: Pick<AccountDirectory, "find">;
  readonly virtualUsers: Pick<VirtualUsers, "identityOf">;
  /** Null on an external network, whose private messages muster does not see. */
  readonly view: AccountView | null;
  readonly positions: ReadPositions;
  readonly feed: PrivateFeed;
  readonly scheduler: Scheduler;
}

/** The private messages of people and admins. */
export class Conversations {
  readonly #options: ConversationsOptions;
  /** The accounts whose correspondents from before the start are known, by internal id. */
  readonly #recalled = new BoundedMap<string, Promise<void>>(MAX_RECALLED);

  constructor(options: ConversationsOptions) {
    this.#options = options;
  }

  /** Whether conversations are kept: they are on the IRC server of this program. */
  get areKept(): boolean {
    return this.#options.view !== null;
  }

  /**
   * Who wrote to the caller and is not read yet, the latest first. Answers from memory, except for
   * the first time.
   */
  async unread(caller: Caller): Promise<Correspondent[]> {
    const { feed, positions } = this.#options;
    const { id, name } = caller.principal;
    if (id === null) return [];
    await this.#recalled.use(id, () => this.#recall(caller));
    return feed.received(name)
      .filter(({ nick, time }) => time > (positions.readUpTo(name, nick) ?? 0));
  }

  /** The caller's conversations, the latest first. */
  async list(caller: Caller): Promise<ListedConversation[]> {
    const own = this.#identityOf(caller);
    const { view } = this.#options;
    if (view === null || own === null) return [];
    const [found, unread] = await Promise.all([view.correspondents(own), this.unread(caller)]);
    const unreadNicks = new Set(unread.map(({ nick }) => foldCase(nick)));
    return found.filter(({ nick }) => isNick(nick)).slice(0, MAX_LISTED)
      .map(({ nick, time }) => ({ nick, time, isUnread: unreadNicks.has(foldCase(nick)) }));
  }

  /**
   * Reads a part of the caller's conversation with the user of a nick.
   *
   * @param part ids of messages: what came before one, or is around one; by default the newest
   * @throws Invalid if it is no nick, NotFound if the caller's account has ended
   */
  async read(
    nick: string,
    part: { readonly before?: string | undefined; readonly at?: string | undefined },
    caller: Caller,
  ): Promise<Conversation> {
    const { own, name } = this.#sides(nick, caller);
    const messages = await this.#options.view?.conversation(own, name, { ...part, limit: PAGE }) ??
      [];
    const hasOlder = messages.length === PAGE || (part.at !== undefined && messages.length > 0);
    return { nick: name, messages, hasOlder };
  }

  /**
   * Passes on each message of the caller's conversation with the user of a nick, in order, once.
   *
   * @param after the id of a message, or a time of ISO 8601; absent for new messages only
   * @param listener its `gap` is called first if messages after that may be missing
   * @throws Invalid if it is no nick, NotFound if the caller's account has ended
   */
  async follow(
    nick: string,
    after: string | undefined,
    listener: { message(message: PrivateMessage): void; gap(gap: Gap): void },
    caller: Caller,
  ): Promise<{ close(): void; cut(): boolean }> {
    const { view, feed } = this.#options;
    const { own, name } = this.#sides(nick, caller);
    // What comes while the missed messages are read follows them.
    let waiting: PrivateMessage[] | null = [];
    const close = feed.listen(own.account, (other, message) => {
      if (foldCase(other) !== foldCase(name)) return;
      if (waiting === null) listener.message(message);
      else waiting.push(message);
    });
    let missed: readonly PrivateMessage[];
    try {
      const query = { after, limit: MAX_MISSED };
      missed = after === undefined ? [] : await view?.conversation(own, name, query) ?? [];
      const isKnown = after === undefined || parseMicroseconds(after) !== null ||
        (await view?.conversation(own, name, { at: after, limit: 1 }))?.[0]?.id === after;
      if (!isKnown || missed.length === MAX_MISSED) listener.gap({ from: after ?? "", to: null });
    } catch (error) {
      close();
      throw error;
    }
    const ids = new Set(missed.map(({ id }) => id));
    for (const message of [...missed, ...waiting.filter(({ id }) => !ids.has(id))]) {
      listener.message(message);
    }
    waiting = null;
    const cut = () => {
      close();
      return true;
    };
    return { close, cut };
  }

  /** Sends a private message. Throws what `DirectMessages.send` throws. */
  async send(nick: string, post: Omit<NewPost, "nick">, caller: Caller): Promise<void> {
    const { directMessages, positions, scheduler } = this.#options;
    await directMessages.send(nick, post, caller);
    await positions.markRead(caller.principal.name, nick, scheduler.now());
  }

  /** Tells the feed who wrote to the caller before the start. */
  async #recall(caller: Caller): Promise<void> {
    const { view, positions, feed } = this.#options;
    const own = this.#identityOf(caller);
    if (view === null || own === null) return;
    try {
      const found = (await view.correspondents(own))
        .filter(({ nick, time }) => time > (positions.readUpTo(own.account, nick) ?? 0))
        .slice(0, MAX_CORRESPONDENTS);
      const lasts = await Promise.all(
        found.map(({ nick }) => view.conversation(own, nick, { limit: 1 })),
      );
      // Where the caller wrote last, nothing waits.
      const waiting = found.filter((_, index) => lasts[index]?.at(-1)?.account !== own.account);
      feed.recall(own.account, waiting);
    } catch {
      // Tried again with the next page, which the missing history does not keep from being shown.
      this.#recalled.delete(caller.principal.id ?? "");
    }
  }

  #sides(nick: string, caller: Caller): { own: UserIdentity; name: string } {
    if (!isNick(nick)) throw new Invalid(`"${nick}" is not a nick`);
    const own = this.#identityOf(caller);
    if (own === null) throw new NotFound("Your account has ended");
    return { own, name: this.#options.accounts.find(nick)?.name ?? nick };
  }

  #identityOf({ principal: { id } }: Caller): UserIdentity | null {
    return id === null ? null : this.#options.virtualUsers.identityOf(id);
  }
}
