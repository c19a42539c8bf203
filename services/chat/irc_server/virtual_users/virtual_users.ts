import {
  PRESENCE,
  type Roster,
  type RosterEntry,
  type SendLimits,
} from "../../../people/agents/mod.ts";
import type { Speaker, Speakers } from "../../bridge/mod.ts";
import { Conflict, Unavailable } from "../../../kernel/errors.ts";
import {
  type Account,
  type AccountDirectory,
  type AgentSession,
  type AgentSessions,
  type Ended,
  type Identity,
  type Principal,
  speakerId,
} from "../../../people/identity/mod.ts";
import {
  type AbsentUser,
  type ChannelStanding,
  foldCase,
  type SpeechMarks,
  type Told,
  type User,
  type UserIdentity,
} from "../../../engines/irc/mod.ts";
import type { Log } from "../../../kernel/log.ts";
import type { Scheduler } from "../../../kernel/scheduler.ts";
import type { Call, CallStore, Home, HomeStore } from "./stored_presence.ts";

/** Most channels that an account rejoins, beside those of an agent's registration. */
const MAX_HOMES = 100;

/** Most users that become away or leave in one go, so that thousands do not stop the server. */
const SLICE = 100;

const HOUR = 3_600_000;

/** What those read who write to a user who is away. */
const AWAY_AGENT = "Messages wait in its inbox";
const AWAY_PERSON = "Messages wait on the web pages";

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

/** The last call of an account. */
interface LastCall {
  /** Unix milliseconds. */
  readonly at: number;
  /** Who called; null if that was before a restart. */
  readonly principal: Principal | null;
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
  readonly roster: Pick<Roster, "get" | "find" | "assigns" | "sessionsOf">;
  readonly accounts: Pick<AccountDirectory, "get" | "find">;
  readonly sendLimits: Pick<
    SendLimits,
    "admit" | "admitPerson" | "requireVoice" | "requireGoing" | "forget"
  >;
  readonly users: UserDirectory;
  /** Absent: agents have no sessions. */
  readonly agentSessions?: Pick<AgentSessions, "onChanged">;
  /** The store of the channels that accounts rejoin; absent for none. */
  readonly store?: HomeStore;
  /** The content of the store at the start, in order. */
  readonly homes?: readonly Home[];
  /** The store of the last calls; absent for none. */
  readonly calls?: CallStore;
  /** The last calls before the start, the oldest first. */
  readonly earlier?: readonly Call[];
  /** How long a user stays after its last call, in hours; at least two minutes. */
  readonly presentHours?: number;
  readonly scheduler: Scheduler;
  readonly log: Log;
}

/**
 * Makes agents that call over HTTP or MCP users of the IRC server, and people and admins who open web
 * pages. Two minutes after the last call such a user is away, with the next call it is back, and
 * after many hours without one it leaves. It leaves at once when its credential ends. One timer
 * serves all of them. After a restart they are where they were, and nobody is told.
 *
 * An account with an IRC session of its own speaks through that session. When it logs in, the session
 * takes over the nick and its channels; when the session ends, the virtual user stays in them. Nobody
 * sees a change.
 *
 * Such a user is in the channels of the agent's registration and in those that it joined or spoke
 * in, unless they refuse it.
 */
export class VirtualUsers implements Speakers {
  readonly #options: VirtualUsersOptions;
  readonly #presentTime: number;
  /** The last calls of the accounts that are here, by internal id, oldest first. */
  readonly #here = new Map<string, LastCall>();
  /** Those of the accounts that are away, oldest first. */
  readonly #away = new Map<string, LastCall>();
  /** Channels that accounts joined or spoke in, by internal id: folded name to name. */
  readonly #homes = new Map<string, Map<string, string>>();
  /** Running writes about them, by internal id. */
  readonly #noting = new Map<string, Promise<boolean>>();
  readonly #accessListeners = new Set<(channel: string) => void>();
  readonly #stopListening: readonly (() => void)[];
  /** When the next sweep is, in Unix milliseconds. */
  #sweepAt = Infinity;
  #cancelSweep: () => void = () => {};

  constructor(options: VirtualUsersOptions) {
    this.#options = options;
    const { identity, homes = [], presentHours = 24 } = options;
    this.#presentTime = Math.max(presentHours * HOUR, PRESENCE);
    for (const { agent, channel } of homes) {
      this.#homesOf(agent).set(foldCase(channel), channel);
    }
    this.#stopListening = [
      identity.onAuthenticated((principal) => {
        const speaking = this.#speakingOf(principal);
        if (speaking !== null) this.#attend(speaking, principal);
      }),
      identity.onEnded((ended) => this.#forget(ended)),
    ];
    options.agentSessions?.onChanged((session, isLive) => {
      if (!isLive && session.id !== session.agentId) this.#endSession(session);
    });
  }

  /** The internal id under which a nick is present: that of a session, or of an account. */
  #idOf(nick: string): string | undefined {
    const { roster, accounts } = this.#options;
    return roster.find(nick)?.id ?? accounts.find(nick)?.id;
  }

  /** The number of virtual users. */
  get size(): number {
    return this.#here.size + this.#away.size;
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
      settled: () => this.#noting.get(speaking.id) ?? Promise.resolve(true),
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
        if (refusal?.kind === "unavailable") throw new Unavailable(refusal.reason);
        if (refusal !== null) {
          throw new Conflict(`${channel} refuses the topic: ${refusal.reason}`);
        }
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
   * The bytes of text in one line of an account that acts as itself; null if it is not a user of the
   * server, so that the bridge has to speak for it.
   */
  room(principal: Principal, nick: string): number | null {
    return this.#speaker(principal)?.room(nick) ?? null;
  }

  /**
   * Sends a private message as an account that acts as itself. Call {@link admit} before.
   *
   * @param lines of at most {@link room} bytes
   * @returns null if it is not a user of the server
   */
  tell(
    principal: Principal,
    nick: string,
    lines: readonly string[],
    marks: SpeechMarks,
  ): Told | null {
    return this.#speaker(principal)?.tell(nick, lines, marks) ?? null;
  }

  /**
   * The user of an account that is not on the server, if its messages are kept; null if there is no
   * such account.
   *
   * @param keepsConversations whether what people and admins are told is kept too
   */
  absent(nick: string, keepsConversations: boolean): AbsentUser | null {
    const id = this.#idOf(nick);
    const speaking = id === undefined ? null : this.#find(id);
    if (speaking === null || (speaking.kind !== "agent" && !keepsConversations)) return null;
    return { identity: speaking.identity, away: awayTextOf(speaking) };
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

  standing(principal: Principal, channel: string): ChannelStanding | null {
    const { kind } = principal;
    if (kind !== "agent" && kind !== "person") return null;
    const id = speakerId(principal);
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

  /**
   * Puts users back who were there before a restart, in their channels, and tells nobody. Call it
   * before anybody can connect.
   */
  restore(): void {
    for (const { account, at } of this.#options.earlier ?? []) {
      const speaking = this.#find(account);
      const user = speaking === null ? null : this.#options.users.addUser(speaking.identity);
      if (speaking === null || user === null) continue;
      this.#away.set(account, { at, principal: null });
      user.attend(awayTextOf(speaking), at);
      for (const channel of this.#channelsToJoin(speaking)) user.return(channel);
    }
    this.#scheduleSweep();
  }

  /** The user that stays when an IRC session of an account ends; null if its last call is too old. */
  staying(account: string): UserIdentity | null {
    const id = this.#options.accounts.find(account)?.id;
    return id === undefined || this.#lastCallOf(id) === undefined ? null : this.identityOf(id);
  }

  /** Marks the virtual user of an account whose IRC session has ended as away, if it is. */
  sessionEnded(account: string): void {
    const id = this.#options.accounts.find(account)?.id;
    if (id === undefined || this.#lastCallOf(id) === undefined) return;
    // Another session of the same account may be about to take the nick.
    queueMicrotask(() => {
      const speaking = this.#find(id);
      const call = this.#lastCallOf(id);
      if (speaking === null || call === undefined) return;
      this.#userOf(speaking)?.attend(this.#away.has(id) ? awayTextOf(speaking) : null, call.at);
    });
  }

  /** A user was removed from a channel: it does not return there by itself. */
  removed(nick: string, channel: string): void {
    const id = this.#idOf(nick);
    if (id !== undefined) this.#removeHome(id, channel);
  }

  /** Ends all of it. The users stay on the server, which is about to close. */
  async close(): Promise<void> {
    for (const stop of this.#stopListening) stop();
    this.#cancelSweep();
    this.#here.clear();
    this.#away.clear();
    await this.#options.calls?.close();
  }

  #speaker(principal: Principal): User | null {
    const speaking = this.#speakingOf(principal);
    return speaking === null ? null : this.#userOf(speaking);
  }

  #attend(speaking: Speaking, principal: Principal): void {
    const { scheduler, calls } = this.#options;
    const at = scheduler.now();
    this.#here.delete(speaking.id);
    this.#away.delete(speaking.id);
    this.#here.set(speaking.id, { at, principal });
    const user = this.#userOf(speaking);
    if (user !== null) {
      user.attend(null, at);
      calls?.note(speaking.id, at);
    }
    this.#scheduleSweep();
  }

  #lastCallOf(id: string): LastCall | undefined {
    return this.#here.get(id) ?? this.#away.get(id);
  }

  #channelsToJoin({ id, channels }: Speaking): readonly string[] {
    return [...channels, ...this.#homes.get(id)?.values() ?? []];
  }

  /** The account's user, created if needed. Null if another user has its nick. */
  #userOf(speaking: Speaking): User | null {
    const { users, log } = this.#options;
    const { id, identity } = speaking;
    const found = users.findUser(identity);
    if (found !== null) return found;
    const user = users.addUser(identity);
    if (user === null) return null;
    const away = this.#away.get(id);
    if (away !== undefined) user.attend(awayTextOf(speaking), away.at);
    for (const channel of this.#channelsToJoin(speaking)) {
      const refusal = user.join(channel);
      if (refusal !== null) {
        log.debug("A channel refuses a user", { nick: identity.nick, channel, refusal });
      }
    }
    return user;
  }

  /** The account that acts as itself: an agent, or a person or an admin on the web pages. */
  #speakingOf(principal: Principal): Speaking | null {
    const { kind, sessionId } = principal;
    const id = speakerId(principal);
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
    const isNew = !homes.delete(folded);
    homes.set(folded, channel);
    if (isNew) {
      this.#note(id, (store) => store.put({ agent: id, channel }), () => homes.delete(folded));
    }
    const [oldest] = homes.values();
    if (homes.size > MAX_HOMES && oldest !== undefined) this.#removeHome(id, oldest);
  }

  #homesOf(id: string): Map<string, string> {
    const homes = this.#homes.get(id) ?? new Map<string, string>();
    this.#homes.set(id, homes);
    return homes;
  }

  #removeHome(id: string, channel: string): void {
    const [homes, folded] = [this.#homes.get(id), foldCase(channel)];
    if (!homes?.delete(folded)) return;
    this.#note(id, (store) => store.remove({ agent: id, channel }), () => {
      homes.set(folded, channel);
    });
  }

  /** Records a change of an account's channels. If that fails, it is undone: it rejoins the old ones. */
  #note(id: string, write: (store: HomeStore) => Promise<void>, undo: () => void): void {
    const { store, log } = this.#options;
    if (store === undefined) return;
    const isWritten = write(store).then(() => true, (error: unknown) => {
      log.warn("The channels that a user returns to could not be stored", { error });
      undo();
      return false;
    });
    const noting = Promise.all([this.#noting.get(id) ?? true, isWritten]).then((all) => {
      if (this.#noting.get(id) === noting) this.#noting.delete(id);
      return all.every(Boolean);
    });
    this.#noting.set(id, noting);
  }

  #scheduleSweep(): void {
    const [here] = this.#here.values();
    const [away] = this.#away.values();
    const next = Math.min(
      (here?.at ?? Infinity) + PRESENCE,
      (away?.at ?? Infinity) + this.#presentTime,
    );
    if (next >= this.#sweepAt) return;
    const { scheduler } = this.#options;
    this.#cancelSweep();
    this.#sweepAt = next;
    // A timer lasts at most 2^31 milliseconds; an early sweep only waits again.
    const delay = Math.min(Math.max(next - scheduler.now(), 0), 24 * HOUR);
    this.#cancelSweep = scheduler.after(delay, () => {
      this.#sweepAt = Infinity;
      this.#sweep();
    });
  }

  /** Marks users as away, and removes those whose last call is too long ago; some at a time. */
  #sweep(): void {
    const now = this.#options.scheduler.now();
    let left = SLICE;
    for (const [id, call] of this.#here) {
      if (now - call.at < PRESENCE || left-- === 0) break;
      this.#here.delete(id);
      this.#away.set(id, call);
      const speaking = this.#find(id);
      if (speaking !== null) this.#present(speaking)?.attend(awayTextOf(speaking), call.at);
    }
    left = SLICE;
    for (const [id, { at }] of this.#away) {
      if (now - at < this.#presentTime || left-- === 0) break;
      this.#end(id, "No call for a long time");
    }
    this.#scheduleSweep();
  }

  /** The account's user, if it is on the server. */
  #present({ identity }: Speaking): User | null {
    return this.#options.users.findUser(identity);
  }

  /** Ends the presence of an account. */
  #end(id: string, reason: string): void {
    this.#here.delete(id);
    this.#away.delete(id);
    this.#options.calls?.remove(id);
    this.#leave(id, reason);
  }

  /** Ends the presence of a session that has ended, so that only its name is known. */
  #endSession({ id, name }: AgentSession): void {
    this.#here.delete(id);
    this.#away.delete(id);
    this.#options.calls?.remove(id);
    const user = this.#options.users.findUser({ nick: name, account: name, realname: "" });
    if (user?.virtual === true) user.leave("Its session has ended");
  }

  #leave(id: string, reason: string): void {
    const speaking = this.#find(id);
    const user = speaking === null ? null : this.#present(speaking);
    if (user === null || !user.virtual) return;
    // It does not rejoin a channel that it was removed from.
    const homes = this.#homes.get(id);
    for (const channel of [...homes?.values() ?? []]) {
      if (!user.isIn(channel)) this.#removeHome(id, channel);
    }
    user.leave(reason);
  }

  /**
   * Ends at once what an ended credential has opened: the presence of an account that has ended, or
   * called last with this credential.
   */
  #forget(ended: Ended): void {
    const { accountId, tokenId } = ended;
    if (accountId === null) return;
    for (const { id } of this.#options.roster.sessionsOf(accountId)) {
      const principal = this.#lastCallOf(id)?.principal ?? null;
      if (principal !== null && ended.covers(principal)) this.#end(id, "Its login has ended");
    }
    const call = this.#lastCallOf(accountId);
    if (call?.principal) {
      if (ended.covers(call.principal)) this.#end(accountId, "Its login has ended");
    } else if (call !== undefined && tokenId === null) {
      this.#end(accountId, "Its login has ended");
    }
    if (tokenId !== null || this.#find(accountId) !== null) return;
    this.#homes.delete(accountId);
    this.#options.sendLimits.forget(accountId);
  }
}

function agentIdentity({ nick, type }: RosterEntry): UserIdentity {
  return { nick, account: nick, realname: `An agent without an IRC connection (${type})` };
}

function awayTextOf({ kind }: Speaking): string {
  return kind === "agent" ? AWAY_AGENT : AWAY_PERSON;
}

function personIdentity({ name }: Account): UserIdentity {
  return { nick: name, account: name, realname: "On the web pages", isPerson: true };
}
