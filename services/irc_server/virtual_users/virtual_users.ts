import { PRESENCE, type Roster, type RosterEntry, type SendLimits } from "../../agents/mod.ts";
import type { Speaker, Speakers } from "../../bridge/mod.ts";
import { Conflict, Unavailable } from "../../errors.ts";
import type { Account, AccountDirectory, Ended, Identity, Principal } from "../../identity/mod.ts";
import {
  type ChannelStanding,
  foldCase,
  type Told,
  type User,
  type UserIdentity,
} from "../../irc/mod.ts";
import type { Log } from "../../log.ts";
import type { Scheduler } from "../../scheduler.ts";
import type { Home, HomeStore } from "./stored_homes.ts";

/** Most channels that an account rejoins, beside those of an agent's registration. */
const MAX_HOMES = 100;

/** For an account that no longer exists. */
const NO_STANDING: ChannelStanding = {
  exists: true,
  member: false,
  visible: false,
  refusal: "Your account has ended",
};

/** An account that speaks as a user of the IRC server. */
interface Speaking {
  /** The internal id of the account. */
  readonly id: string;
  readonly kind: Account["kind"];
  readonly identity: UserIdentity;
  /** The channels of an agent's registration. */
  readonly channels: readonly string[];
}

/** The part of the IRC server that this module uses. */
export interface UserDirectory {
  /** The user with this nick and account, with or without a connection; or null. */
  findUser(identity: UserIdentity): User | null;
  /** Adds a user without a connection. Null if the nick is not available. */
  addUser(identity: UserIdentity): User | null;
  /** Whether a user of the account is in the channel. */
  isMember(account: string, channel: string): boolean;
  /** An account's relation to a channel. */
  standing(identity: UserIdentity, channel: string): ChannelStanding;
  /** Whether only users of this account and of the program are in the channel. */
  isAlone(account: string, channel: string): boolean;
}

export interface VirtualUsersOptions {
  readonly identity: Pick<Identity, "onAuthenticated" | "onEnded">;
  readonly roster: Pick<Roster, "get" | "find" | "assigns">;
  readonly accounts: Pick<AccountDirectory, "get" | "find">;
  readonly sendLimits: Pick<
    SendLimits,
    "admit" | "admitPerson" | "requireVoice" | "requireGoing" | "forget"
  >;
  readonly users: UserDirectory;
  /** The store of the channels that accounts rejoin; absent for none. */
  readonly store?: HomeStore;
  /** The content of the store at the start, in order. */
  readonly homes?: readonly Home[];
  readonly scheduler: Scheduler;
  readonly log: Log;
}

/**
 * Makes agents users of the IRC server from their first call over HTTP or MCP until two minutes
 * after the last one; and people and admins while they have a web page open. An account with an IRC
 * session of its own speaks through that session. When it logs in, the session takes over the nick;
 * when the session ends, the virtual user returns.
 *
 * Such a user is in the channels of the agent's registration and in those that it joined or spoke
 * in, unless they refuse it.
 */
export class VirtualUsers implements Speakers {
  readonly #options: VirtualUsersOptions;
  /** The time of each present account's last call, by internal id, oldest first. */
  readonly #lastCalls = new Map<string, number>();
  /** Channels that accounts joined or spoke in, by internal id: folded name to name. */
  readonly #homes = new Map<string, Map<string, string>>();
  /** Running writes about them, by internal id. */
  readonly #noting = new Map<string, Promise<void>>();
  readonly #accessListeners = new Set<(channel: string) => void>();
  readonly #stopListening: readonly (() => void)[];
  #cancelSweep: (() => void) | null = null;

  constructor(options: VirtualUsersOptions) {
    this.#options = options;
    const { identity, homes = [] } = options;
    for (const { agent, channel } of homes) {
      this.#homesOf(agent).set(foldCase(channel), channel);
    }
    this.#stopListening = [
      identity.onAuthenticated((principal) => {
        const speaking = this.#speakingOf(principal);
        if (speaking !== null) this.#attend(speaking);
      }),
      identity.onEnded((ended) => this.#forget(ended)),
    ];
  }

  /** The number of virtual users. */
  get size(): number {
    return this.#lastCalls.size;
  }

  speaker(principal: Principal): Speaker | null {
    const speaking = this.#speakingOf(principal);
    const user = speaking === null ? null : this.#userOf(speaking);
    if (speaking === null || user === null) return null;
    const isAdmin = speaking.kind === "admin";
    // A person who also has an IRC client finds the channel again on the web pages.
    const settle = (channel: string) => {
      const isThere = user.virtual ? user.isIn(channel) : speaking.kind !== "agent";
      if (isThere) this.#addHome(speaking, channel);
    };
    return {
      join(channel) {
        const refusal = isAdmin ? user.enter(channel) : user.join(channel);
        if (refusal === null) settle(channel);
        return refusal;
      },
      part: (channel) => {
        user.part(channel);
        this.#removeHome(speaking.id, channel);
      },
      settled: () => this.#noting.get(speaking.id) ?? Promise.resolve(),
      room: (target) => user.room(target),
      say(channel, texts, answered) {
        if (isAdmin) user.enter(channel);
        const spoken = user.say(channel, texts, answered, isAdmin);
        if (spoken.kind === "sent" || user.virtual) settle(channel);
        if (spoken.kind === "sent") return spoken.ids;
        const text = `IRC refused the message: ${spoken.reason}`;
        throw spoken.kind === "unavailable" ? new Unavailable(text) : new Conflict(text);
      },
      async setTopic(channel, text) {
        if (isAdmin) user.enter(channel);
        const refusal = await user.setTopic(channel, text, isAdmin);
        if (refusal !== null) throw new Conflict(`${channel} refuses the topic: ${refusal}`);
        settle(channel);
      },
    };
  }

  requireVoice({ kind, id }: Principal): void {
    if (kind === "agent" && id !== null) this.#options.sendLimits.requireVoice(id);
  }

  requireGoing(nick: string): void {
    this.#options.sendLimits.requireGoing(nick);
  }

  /**
   * Sends a private message as an account that acts as itself.
   *
   * @param linesFor cuts the text into lines of at most the given number of bytes
   * @param answered the id of the message that it answers, if any
   * @returns null if it is not a user of the server, so that the bridge has to speak for it
   * @throws what `linesFor` throws, and what {@link admit} throws
   */
  tell(
    principal: Principal,
    nick: string,
    linesFor: (room: number) => readonly string[],
    answered?: string,
  ): Told | null {
    const speaking = this.#speakingOf(principal);
    const user = speaking === null ? null : this.#userOf(speaking);
    if (user === null) return null;
    const lines = linesFor(user.room(nick));
    this.admit(principal, lines.length);
    return user.tell(nick, lines, answered);
  }

  /** Whether an agent has its nick on the IRC server, with or without a session of its own. */
  attends(agent: RosterEntry): boolean {
    return this.#options.users.findUser(agentIdentity(agent)) !== null;
  }

  admit({ kind, id }: Principal, messages: number): void {
    if (id === null) return;
    const { sendLimits } = this.#options;
    if (kind === "agent") sendLimits.admit(id, messages);
    else if (kind !== "project") sendLimits.admitPerson(id, messages);
  }

  standing({ kind, id }: Principal, channel: string): ChannelStanding | null {
    if (kind !== "agent" && kind !== "person") return null;
    const speaking = id === null ? null : this.#find(id);
    if (speaking === null) return NO_STANDING;
    return this.#options.users.standing(speaking.identity, channel);
  }

  keepsAlone(accountId: string, channel: string): boolean {
    const { roster, users } = this.#options;
    const speaking = this.#find(accountId);
    if (speaking === null || roster.assigns(channel)) return false;
    return users.isAlone(speaking.identity.account, channel);
  }

  /** The identity of an account on the IRC server; null if the account has ended. */
  identityOf(accountId: string): UserIdentity | null {
    return this.#find(accountId)?.identity ?? null;
  }

  /**
   * The channels of an account that it may read now: those that it is in, was in when last present,
   * or was registered with. With their `#`, in no order.
   */
  channelsOf(accountId: string): string[] {
    const speaking = this.#find(accountId);
    if (speaking === null) return [];
    const { users } = this.#options;
    const homes = this.#homes.get(accountId)?.values() ?? [];
    return [...new Set([...speaking.channels, ...homes])].filter((channel) => {
      const { visible, refusal } = users.standing(speaking.identity, channel);
      return speaking.kind === "admin" || (visible && refusal === null);
    });
  }

  isAgent(nick: string): boolean {
    return this.#options.roster.find(nick) !== null;
  }

  onAccessChanged(listener: (channel: string) => void): () => void {
    this.#accessListeners.add(listener);
    return () => this.#accessListeners.delete(listener);
  }

  /** Handles a change that may end somebody's access to a channel. */
  accessChanged(channel: string): void {
    for (const listener of this.#accessListeners) listener(channel);
  }

  /**
   * Whether an agent receives the messages of a channel: it was registered with the channel, is in
   * it, or was in it when last present, and the channel does not refuse it.
   */
  hears(agent: RosterEntry, channel: string): boolean {
    const folded = foldCase(channel);
    const { users } = this.#options;
    if (users.isMember(agent.nick, channel)) return true;
    const isItsOwn = agent.channels.some((name) => foldCase(name) === folded) ||
      (this.#homes.get(agent.id)?.has(folded) ?? false);
    if (!isItsOwn) return false;
    const { visible, refusal } = users.standing(agentIdentity(agent), channel);
    return visible && refusal === null;
  }

  /** Restores the virtual user of an account whose IRC session has ended. */
  sessionEnded(account: string): void {
    const id = this.#options.accounts.find(account)?.id;
    if (id === undefined || !this.#lastCalls.has(id)) return;
    // Another session of the same account may be about to take the nick.
    queueMicrotask(() => {
      const speaking = this.#find(id);
      if (speaking !== null && this.#lastCalls.has(id)) this.#userOf(speaking);
    });
  }

  /** Removes all virtual users. */
  close(): void {
    for (const stop of this.#stopListening) stop();
    this.#cancelSweep?.();
    this.#lastCalls.clear();
  }

  #attend(speaking: Speaking): void {
    this.#lastCalls.delete(speaking.id);
    this.#lastCalls.set(speaking.id, this.#options.scheduler.now());
    this.#userOf(speaking);
    this.#scheduleSweep();
  }

  /** The account's user, created if needed. Null if another user has its nick. */
  #userOf({ id, identity, channels }: Speaking): User | null {
    const { users, log } = this.#options;
    const found = users.findUser(identity);
    if (found !== null) return found;
    const user = users.addUser(identity);
    if (user === null) return null;
    for (const channel of [...channels, ...this.#homes.get(id)?.values() ?? []]) {
      const refusal = user.join(channel);
      if (refusal !== null) {
        log.debug("A channel refuses a user", { nick: identity.nick, channel, refusal });
      }
    }
    return user;
  }

  /** The account that acts as itself: an agent, or a person or an admin on the web pages. */
  #speakingOf({ kind, id, sessionId }: Principal): Speaking | null {
    if (id === null || (kind !== "agent" && sessionId === null)) return null;
    return this.#find(id);
  }

  #find(id: string): Speaking | null {
    const { roster, accounts } = this.#options;
    const agent = roster.get(id);
    if (agent !== null) {
      return { id, kind: "agent", identity: agentIdentity(agent), channels: agent.channels };
    }
    const account = accounts.get(id);
    if (account === null || account.kind === "agent" || account.revokedAt !== null) return null;
    return { id, kind: account.kind, identity: personIdentity(account), channels: [] };
  }

  #addHome({ id, channels }: Speaking, channel: string): void {
    const folded = foldCase(channel);
    if (channels.some((name) => foldCase(name) === folded)) return;
    const homes = this.#homesOf(id);
    if (!homes.delete(folded)) this.#note(id, (store) => store.put({ agent: id, channel }));
    homes.set(folded, channel);
    const [oldest] = homes.values();
    if (homes.size > MAX_HOMES && oldest !== undefined) this.#removeHome(id, oldest);
  }

  #homesOf(id: string): Map<string, string> {
    const homes = this.#homes.get(id) ?? new Map<string, string>();
    this.#homes.set(id, homes);
    return homes;
  }

  #removeHome(id: string, channel: string): void {
    if (!this.#homes.get(id)?.delete(foldCase(channel))) return;
    this.#note(id, (store) => store.remove({ agent: id, channel }));
  }

  /** Records a change of an account's channels. If that fails, it rejoins the old ones. */
  #note(id: string, write: (store: HomeStore) => Promise<void>): void {
    const { store, log } = this.#options;
    if (store === undefined) return;
    const noting = write(store).catch((error: unknown) => {
      log.warn("The channels that a user returns to could not be stored", { error });
    }).then(() => {
      if (this.#noting.get(id) === noting) this.#noting.delete(id);
    });
    this.#noting.set(id, noting);
  }

  #scheduleSweep(): void {
    const [oldest] = this.#lastCalls.values();
    if (this.#cancelSweep !== null || oldest === undefined) return;
    const { scheduler } = this.#options;
    this.#cancelSweep = scheduler.after(Math.max(oldest + PRESENCE - scheduler.now(), 0), () => {
      this.#cancelSweep = null;
      this.#sweep();
    });
  }

  /** Removes users whose last call is too long ago. */
  #sweep(): void {
    const now = this.#options.scheduler.now();
    for (const [id, calledAt] of this.#lastCalls) {
      if (now - calledAt < PRESENCE) break;
      this.#lastCalls.delete(id);
      this.#leave(id, "Two minutes since its last call");
    }
    this.#scheduleSweep();
  }

  #leave(id: string, reason: string): void {
    const identity = this.#find(id)?.identity ?? null;
    const user = identity === null ? null : this.#options.users.findUser(identity);
    if (user === null || !user.virtual) return;
    // It does not rejoin a channel that it was removed from.
    const homes = this.#homes.get(id);
    for (const channel of [...homes?.values() ?? []]) {
      if (!user.isIn(channel)) this.#removeHome(id, channel);
    }
    user.leave(reason);
  }

  /** Ends at once what an ended credential has opened. */
  #forget({ accountId, tokenId }: Ended): void {
    if (accountId === null || tokenId !== null) return;
    if (this.#lastCalls.delete(accountId)) this.#leave(accountId, "Its login has ended");
    if (this.#find(accountId) !== null) return;
    this.#homes.delete(accountId);
    this.#options.sendLimits.forget(accountId);
  }
}

function agentIdentity({ nick, type }: RosterEntry): UserIdentity {
  return { nick, account: nick, realname: `An agent without a socket (${type})` };
}

function personIdentity({ name }: Account): UserIdentity {
  return { nick: name, account: name, realname: "On the web pages", isPerson: true };
}
