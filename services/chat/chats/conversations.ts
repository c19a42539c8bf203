import type { NewPost } from "../bridge/mod.ts";
import { Invalid, NotFound } from "../../kernel/errors.ts";
import type { AccountDirectory, Caller } from "../../people/identity/mod.ts";
import type { DirectMessages } from "../inboxes/mod.ts";
import {
  type AccountView,
  type Correspondent,
  foldCase,
  isNick,
  type ObservedMessage,
  type PrivateMessage,
  type UserIdentity,
} from "../../engines/irc/mod.ts";
import type { VirtualUsers } from "../irc_server/virtual_users/mod.ts";
import { BoundedMap } from "../../kernel/bounded_map.ts";
import { type Gap, parseMicroseconds } from "../messages/mod.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import type { ReadPositions } from "./chats.ts";

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
  readonly accounts: Pick<AccountDirectory, "find" | "session">;
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
    const { accounts } = this.#options;
    return { own, name: (accounts.session(nick) ?? accounts.find(nick))?.name ?? nick };
  }

  #identityOf({ principal: { id } }: Caller): UserIdentity | null {
    return id === null ? null : this.#options.virtualUsers.identityOf(id);
  }
}

/** One side of a private message. */
interface Side {
  readonly nick: string;
  /** Null for a guest. */
  readonly account: string | null;
}

/**
 * Gets the private messages that an account sends and receives.
 *
 * @param other the nick of the other side
 */
type PrivateListener = (other: string, message: PrivateMessage) => void;

/** Accounts, and the correspondents of each, whose last messages are remembered. */
const MAX_ACCOUNTS = 1000;
const MAX_CORRESPONDENTS = 20;

const CTCP = "\x01";
const ACTION = `${CTCP}ACTION `;

/**
 * Passes private messages to those who follow a conversation, and remembers who last wrote to whom
 * since the start.
 */
export class PrivateFeed {
  /** By folded account. */
  readonly #listeners = new Map<string, Set<PrivateListener>>();
  /** The times of the last messages to each folded account, by the sender's nick, latest last. */
  readonly #received = new Map<string, Map<string, number>>();

  /** Handles a message that the IRC server accepted. */
  take({ id, time, sender, channel, receiver, text }: ObservedMessage): void {
    if (channel !== null || receiver === null) return;
    if (sender.account === null && receiver.account === null) return;
    if (text.startsWith(CTCP) && !text.startsWith(ACTION)) return;
    const { nick, account } = sender;
    const shown = text.startsWith(ACTION)
      ? `* ${nick} ${text.slice(ACTION.length).replaceAll(CTCP, "")}`
      : text;
    this.add(sender, receiver, { id, nick, account, text: shown, time });
  }

  /** Passes on a message from one side to the other. */
  add(from: Side, to: Side, message: PrivateMessage): void {
    this.#tell(from.account, to.nick, message);
    if (from.account === to.account) return;
    this.#tell(to.account, from.nick, message);
    if (to.account !== null) this.#remember(to.account, from.nick, message.time);
  }

  /** Remembers who wrote to an account before the start. Times are in Unix milliseconds. */
  recall(
    account: string,
    correspondents: readonly { readonly nick: string; readonly time: number }[],
  ): void {
    const known = this.received(account);
    const later = new Set(known.map(({ nick }) => foldCase(nick)));
    const earlier = correspondents.filter(({ nick }) => !later.has(foldCase(nick)));
    this.#received.delete(foldCase(account));
    const all = [...known, ...earlier].sort((one, other) => one.time - other.time);
    for (const { nick, time } of all.slice(-MAX_CORRESPONDENTS)) {
      this.#remember(account, nick, time);
    }
  }

  /** Who last wrote to an account, the latest first. Times are in Unix milliseconds. */
  received(account: string): { readonly nick: string; readonly time: number }[] {
    const received = this.#received.get(foldCase(account)) ?? [];
    return Array.from(received, ([nick, time]) => ({ nick, time })).reverse();
  }

  /**
   * Calls a listener for each private message of an account.
   *
   * @returns a function that ends the subscription
   */
  listen(account: string, listener: PrivateListener): () => void {
    const folded = foldCase(account);
    const listeners = this.#listeners.get(folded) ?? new Set();
    this.#listeners.set(folded, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(folded) === listeners) {
        this.#listeners.delete(folded);
      }
    };
  }

  #remember(account: string, from: string, time: number): void {
    const folded = foldCase(account);
    const received = this.#received.get(folded) ?? new Map<string, number>();
    this.#received.delete(folded);
    this.#received.set(folded, received);
    received.delete(from);
    received.set(from, time);
    dropFirst(received, MAX_CORRESPONDENTS);
    dropFirst(this.#received, MAX_ACCOUNTS);
  }

  #tell(account: string | null, other: string, message: PrivateMessage): void {
    if (account === null) return;
    for (const listener of this.#listeners.get(foldCase(account)) ?? []) listener(other, message);
  }
}

function dropFirst(entries: Map<string, unknown>, most: number): void {
  const [first] = entries.keys();
  if (entries.size > most && first !== undefined) entries.delete(first);
}
