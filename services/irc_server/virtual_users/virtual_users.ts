import { PRESENCE, type Roster, type RosterEntry, type SendLimits } from "../../agents/mod.ts";
import type { Speaker, Speakers } from "../../bridge/mod.ts";
import { Conflict } from "../../errors.ts";
import type { Ended, Identity, Principal } from "../../identity/mod.ts";
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

/** Most channels that an agent rejoins, beside those of its registration. */
const MAX_HOMES = 100;

/** For an agent that no longer exists. */
const NO_STANDING: ChannelStanding = {
  exists: true,
  member: false,
  visible: false,
  refusal: "You are no longer an agent",
};

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
  readonly sendLimits: Pick<SendLimits, "admit" | "requireVoice">;
  readonly users: UserDirectory;
  /** The store of the channels that agents rejoin; absent for none. */
  readonly store?: HomeStore;
  /** The content of the store at the start, in order. */
  readonly homes?: readonly Home[];
  readonly scheduler: Scheduler;
  readonly log: Log;
}

/**
 * Makes agents users of the IRC server from their first call over HTTP or MCP until two minutes
 * after the last one. An agent with an IRC session of its own speaks through that session. When it
 * logs in, the session takes over the nick; when the session ends, the virtual user returns.
 *
 * Such a user is in the channels of the agent's registration and in those that it joined or spoke
 * in, unless they refuse it.
 */
export class VirtualUsers implements Speakers {
  readonly #options: VirtualUsersOptions;
  /** The time of each present agent's last call, by internal id, oldest first. */
  readonly #lastCalls = new Map<string, number>();
  /** Channels that agents joined or spoke in, by internal id: folded name to name. */
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
      identity.onAuthenticated(({ kind, id }) => {
        if (kind === "agent" && id !== null) this.#attend(id);
      }),
      identity.onEnded((ended) => this.#forget(ended)),
    ];
  }

  /** The number of virtual users. */
  get size(): number {
    return this.#lastCalls.size;
  }

  speaker(principal: Principal): Speaker | null {
    const agent = this.#agentOf(principal);
    const user = agent === null ? null : this.#userOf(agent);
    if (agent === null || user === null) return null;
    const settle = (channel: string) => {
      if (user.isIn(channel) && user.virtual) this.#addHome(agent, channel);
    };
    return {
      join(channel) {
        const refusal = user.join(channel);
        settle(channel);
        return refusal;
      },
      part: (channel) => {
        user.part(channel);
        this.#removeHome(agent.id, channel);
      },
      settled: () => this.#noting.get(agent.id) ?? Promise.resolve(),
      room: (target) => user.room(target),
      say(channel, texts) {
        const spoken = user.say(channel, texts);
        settle(channel);
        if (spoken.kind === "sent") return spoken.ids;
        throw new Conflict(`IRC refused the message: ${spoken.reason}`);
      },
    };
  }

  requireVoice({ kind, id }: Principal): void {
    if (kind === "agent" && id !== null) this.#options.sendLimits.requireVoice(id);
  }

  /**
   * Sends a private message as an agent that calls with its own credential.
   *
   * @param linesFor cuts the text into lines of at most the given number of bytes
   * @returns null if the agent is not a user of the server, so that the bridge has to speak for it
   * @throws what `linesFor` throws, and what {@link admit} throws
   */
  tell(
    principal: Principal,
    nick: string,
    linesFor: (room: number) => readonly string[],
  ): Told | null {
    const agent = this.#agentOf(principal);
    const user = agent === null ? null : this.#userOf(agent);
    if (user === null) return null;
    const lines = linesFor(user.room(nick));
    this.admit(principal, lines.length);
    return user.tell(nick, lines);
  }

  /** Whether an agent has its nick on the IRC server, with or without a session of its own. */
  attends(agent: RosterEntry): boolean {
    return this.#options.users.findUser(identityOf(agent)) !== null;
  }

  admit({ kind, id }: Principal, messages: number): void {
    if (kind === "agent" && id !== null) this.#options.sendLimits.admit(id, messages);
  }

  standing({ kind, id }: Principal, channel: string): ChannelStanding | null {
    if (kind !== "agent") return null;
    const agent = id === null ? null : this.#options.roster.get(id);
    return agent === null ? NO_STANDING : this.#options.users.standing(identityOf(agent), channel);
  }

  keepsAlone(agentId: string, channel: string): boolean {
    const { roster, users } = this.#options;
    const agent = roster.get(agentId);
    return agent !== null && !roster.assigns(channel) && users.isAlone(agent.nick, channel);
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
    const { visible, refusal } = users.standing(identityOf(agent), channel);
    return visible && refusal === null;
  }

  /** Restores the virtual user of an agent whose IRC session has ended. */
  sessionEnded(account: string): void {
    const agent = this.#options.roster.find(account);
    if (agent === null || !this.#lastCalls.has(agent.id)) return;
    // Another session of the same account may be about to take the nick.
    queueMicrotask(() => {
      if (this.#lastCalls.has(agent.id)) this.#userOf(agent);
    });
  }

  /** Removes all virtual users. */
  close(): void {
    for (const stop of this.#stopListening) stop();
    this.#cancelSweep?.();
    this.#lastCalls.clear();
  }

  #attend(id: string): void {
    const agent = this.#options.roster.get(id);
    if (agent === null) return;
    this.#lastCalls.delete(id);
    this.#lastCalls.set(id, this.#options.scheduler.now());
    this.#userOf(agent);
    this.#scheduleSweep();
  }

  /** The agent's user, created if needed. Null if another user has its nick. */
  #userOf(agent: RosterEntry): User | null {
    const { users, log } = this.#options;
    const identity = identityOf(agent);
    const found = users.findUser(identity);
    if (found !== null) return found;
    const user = users.addUser(identity);
    if (user === null) return null;
    for (const channel of [...agent.channels, ...this.#homes.get(agent.id)?.values() ?? []]) {
      const refusal = user.join(channel);
      if (refusal !== null) {
        log.debug("A channel refuses an agent", { agent: agent.nick, channel, refusal });
      }
    }
    return user;
  }

  #agentOf({ kind, id }: Principal): RosterEntry | null {
    return kind === "agent" && id !== null ? this.#options.roster.get(id) : null;
  }

  #addHome({ id, channels }: RosterEntry, channel: string): void {
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

  /** Records a change of an agent's channels. If that fails, the agent rejoins the old ones. */
  #note(id: string, write: (store: HomeStore) => Promise<void>): void {
    const { store, log } = this.#options;
    if (store === undefined) return;
    const noting = write(store).catch((error: unknown) => {
      log.warn("The channels that an agent returns to could not be stored", { error });
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
    const agent = this.#options.roster.get(id);
    if (agent === null) return;
    const user = this.#options.users.findUser(identityOf(agent));
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
    if (this.#lastCalls.delete(accountId)) this.#leave(accountId, "Its passphrase was changed");
    if (this.#options.roster.get(accountId) === null) this.#homes.delete(accountId);
  }
}

function identityOf({ nick, type }: RosterEntry): UserIdentity {
  return { nick, account: nick, realname: `An agent without a socket (${type})` };
}
