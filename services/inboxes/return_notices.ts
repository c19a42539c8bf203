import type { RosterEntry } from "../agents/mod.ts";
import type { AccountDirectory } from "../identity/mod.ts";
import { BoundedMap } from "../kernel/bounded_map.ts";

/** Accounts that are to be told, notices of each, and notices that wait for the start. */
const MAX_ACCOUNTS = 1000;
const MAX_NOTICES = 20;
const MAX_EARLY = 1000;

/** A message of a person or an admin that came back. */
export interface Returned {
  /** To whom it was. */
  readonly agent: RosterEntry;
  /** The account that wrote it. */
  readonly senderId: string;
  /** What became of it. */
  readonly text: string;
}

/** How people are told. */
export interface ReturnWays {
  /** Notes it in the conversation of an account with an agent, if conversations are kept. */
  note(agent: RosterEntry, accountId: string, text: string): void;
  /** The nicks of an account's connections to IRC. */
  nicksOf(account: string): readonly string[];
  /** Sends a notice to a nick. */
  say(nick: string, text: string): void;
}

/**
 * Tells people and admins of their messages that came back: in the conversation with the agent, and
 * on IRC at once or at their next login. What waits for a login is in memory.
 */
export class ReturnNotices {
  readonly #accounts: Pick<AccountDirectory, "get">;
  /** Texts for accounts that are not on IRC, by name. */
  readonly #waiting = new BoundedMap<string, string[]>(MAX_ACCOUNTS);
  /** What came back before it was known how to tell it. */
  #early: Returned[] = [];
  #ways: ReturnWays | null = null;

  constructor(accounts: Pick<AccountDirectory, "get">) {
    this.#accounts = accounts;
  }

  /** From now on, people are told in these ways. */
  attach(ways: ReturnWays): void {
    this.#ways = ways;
    for (const returned of this.#early) this.take(returned);
    this.#early = [];
  }

  take(returned: Returned): void {
    const ways = this.#ways;
    if (ways === null) {
      if (this.#early.length < MAX_EARLY) this.#early.push(returned);
      return;
    }
    const { agent, senderId, text } = returned;
    const account = this.#accounts.get(senderId);
    if (account === null || account.kind === "agent") return;
    ways.note(agent, senderId, text);
    const nicks = ways.nicksOf(account.name);
    for (const nick of nicks) ways.say(nick, text);
    if (nicks.length === 0) this.#keep(account.name, text);
  }

  /** Tells an account that logged in to IRC what came back while it was away. */
  greet(account: string, nick: string): void {
    const texts = this.#waiting.get(account) ?? [];
    this.#waiting.delete(account);
    for (const text of texts) this.#ways?.say(nick, text);
  }

  #keep(account: string, text: string): void {
    const texts = this.#waiting.get(account) ?? [];
    this.#waiting.set(account, [...texts, text].slice(-MAX_NOTICES));
  }
}
