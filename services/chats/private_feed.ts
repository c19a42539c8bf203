import { foldCase, type ObservedMessage, type PrivateMessage } from "../irc/mod.ts";

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
export type PrivateListener = (other: string, message: PrivateMessage) => void;

/** Accounts, and the correspondents of each, whose last messages are remembered. */
const MAX_ACCOUNTS = 1000;
export const MAX_CORRESPONDENTS = 20;

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
