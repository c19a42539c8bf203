import { type Database, Duplicate, statement } from "../../engines/database/mod.ts";
import { Conflict, NotFound } from "../../kernel/errors.ts";
import { newEvent } from "../../engines/events/mod.ts";
import {
  type AccountDirectory,
  type Caller,
  DeferredTimes,
  type Identity,
  nameTaken,
  originOf,
  type Revocations,
  type ScramVerifiers,
  sha256,
  type Tokens,
} from "../identity/mod.ts";
import { NICK_PATTERN } from "../../engines/irc/mod.ts";
import type { Log } from "../../kernel/log.ts";
import { newUlid } from "../../kernel/ulid.ts";
import type { Halts } from "./halts.ts";
import { AgentTexts } from "./listing.ts";
import type { Provisioning, Sessions } from "./provisioning.ts";
import {
  type Agent,
  type AgentActivity,
  type AgentPage,
  type AgentRow,
  type AgentState,
  commitOn,
  describeAgent,
  findActiveAgent,
  findAgent,
  findAgentRow,
} from "./records.ts";
import { rateColumns, type Roster, type RosterEntry } from "./roster.ts";
import type { AdoptionRequest, RegistrationRequest, Rotation } from "./schemas.ts";
import { type SendLimits, SpeechControls } from "./speech.ts";

/** An agent's credentials, shown once. */
export interface Registration {
  readonly nick: string;
  readonly credentials: { readonly nick: string; readonly passphrase: string };
  /** `irc://host:port`, or `ircs://host:port`. */
  readonly server: string;
}

/** Whether an agent is there. */
export interface AgentPresence {
  /** The internal id of its account. */
  readonly id: string;
  readonly nick: string;
  readonly isPaused: boolean;
  readonly isHalted: boolean;
  /** Unix milliseconds. */
  readonly lastSeen: number | null;
  readonly online: boolean;
}

/** What an agent does that is not there. */
const AWAY: AgentActivity = Object.freeze({ state: "away", quietMinutes: null });

/** Decides what an agent does. */
export type DoingOf = (presence: Omit<AgentPresence, "nick" | "isPaused">) => AgentActivity;

export interface AgentsOptions {
  readonly database: Database;
  readonly accounts: AccountDirectory;
  readonly identity: Identity;
  readonly roster: Roster;
  readonly sendLimits: SendLimits;
  readonly halts: Halts;
  readonly scram: ScramVerifiers;
  readonly tokens: Pick<Tokens, "endingAllOf">;
  readonly revocations: Revocations;
  readonly sessions: Pick<Sessions, "isOnline">;
  readonly provisioning: Provisioning;
  /** The URL of the IRC server, for agents. */
  readonly serverAddress: () => string;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly log: Log;
}

/** The registry of agents. A change is on disk, with its event, before it is acknowledged. */
export class Agents {
  /** The active agents. */
  readonly roster: Roster;
  /** Limits and counts what agents say. */
  readonly sendLimits: SendLimits;
  readonly halts: Halts;
  /** Pauses agents, and sets their rates. */
  readonly speechControls: SpeechControls;
  readonly #database: Database;
  readonly #accounts: AccountDirectory;
  readonly #scram: ScramVerifiers;
  readonly #tokens: Pick<Tokens, "endingAllOf">;
  readonly #revocations: Revocations;
  readonly #sessions: Pick<Sessions, "isOnline">;
  readonly #provisioning: Provisioning;
  readonly #serverAddress: () => string;
  readonly #clock: () => number;
  readonly #presence: Presence;
  readonly #texts = new AgentTexts();
  readonly #stopListening: () => void;

  constructor(options: AgentsOptions) {
    this.#database = options.database;
    this.#accounts = options.accounts;
    this.#scram = options.scram;
    this.#tokens = options.tokens;
    this.#revocations = options.revocations;
    this.#sessions = options.sessions;
    this.#provisioning = options.provisioning;
    this.#serverAddress = options.serverAddress;
    this.#clock = options.clock;
    this.#presence = new Presence(options);
    this.roster = options.roster;
    this.sendLimits = options.sendLimits;
    this.halts = options.halts;
    this.speechControls = new SpeechControls(options);
    this.#stopListening = options.identity.onAuthenticated(({ kind, id }) => {
      if (kind === "agent" && id !== null) this.touch(id);
    });
  }

  /** Agents by nick, revoked ones included: all, or a page. */
  list(page: AgentPage = {}): Agent[] {
    return this.roster.rows(page).map((row) => describeAgent(row, this.#state(row)));
  }

  /**
   * The JSON of {@link list}. It is produced in pieces, so that a long list does not block the main
   * thread.
   *
   * @param doing what each agent does, to add that
   */
  listAsJson(page: AgentPage = {}, doing?: DoingOf): Promise<string> {
    return this.#texts.list(this.roster.rows(page), (row) => this.#state(row, doing));
  }

  /** Every active agent and whether it is there; cheaper than {@link list}. */
  presences(): AgentPresence[] {
    const present: AgentPresence[] = [];
    for (const entry of this.roster.all()) {
      const presence = this.#presenceOf(entry);
      if (presence !== null) present.push(presence);
    }
    return present;
  }

  /** Whether an agent is there; null if it is not active. */
  presence(accountId: string): AgentPresence | null {
    const entry = this.roster.get(accountId);
    return entry === null ? null : this.#presenceOf(entry);
  }

  /**
   * @param doing what each agent does, to add that
   * @throws NotFound
   */
  get(nick: string, doing?: DoingOf): Agent {
    const row = findAgentRow(this.roster, findAgent(this.#accounts, nick));
    return describeAgent(row, this.#state(row, doing));
  }

  /** The number of agents, and of active ones. */
  counts(): { readonly active: number; readonly total: number } {
    return this.#accounts.counts("agent");
  }

  /**
   * Creates an account and registers it as an agent.
   *
   * @throws Conflict if the nick is taken or reserved, Unavailable if IRC is away
   */
  async register(request: RegistrationRequest, caller: Caller): Promise<Registration> {
    const { nick, type, channels, rate_limit: rate = null } = request;
    this.#accounts.assertFree(nick);
    const now = this.#clock();
    const origin = originOf(caller);
    const id = newUlid(now);
    using change = await this.#provisioning.register({ id, name: nick, channels }, null);
    await caller.confirm?.();
    const { passphrase } = change;
    const secret = { scheme: "sha256", value: sha256(passphrase) } as const;
    await this.#database.commit({
      statements: [
        this.#accounts.insertion({ id, name: nick, kind: "agent", secret, createdAt: now }),
        this.roster.insertion({ id, name: nick }, request, rate, now),
        await this.#scram.keeping(id, secret, passphrase),
        ...change.statements,
      ],
      events: [
        newEvent("agent.registered", { nick, type, channels }, origin, now),
        ...(rate === null
          ? []
          : [newEvent("agent.rate_changed", { nick, ...rateColumns(rate) }, origin, now)]),
      ],
    }).catch((error: unknown) => {
      throw error instanceof Duplicate ? nameTaken(nick) : error;
    });
    change.settle();
    return this.#registration(nick, passphrase);
  }

  /**
   * Replaces an agent's passphrase, ends its tokens unless they are kept, and closes the IRC
   * sessions and streams opened with them.
   *
   * @throws NotFound, or Conflict if the agent is revoked, or Unavailable if IRC is away
   */
  async rotate(
    nick: string,
    caller: Caller,
    { keep_tokens: keepsTokens }: Rotation = { keep_tokens: false },
  ): Promise<Registration> {
    const account = findActiveAgent(this.#accounts, nick);
    const { id, name } = account;
    using change = await this.#provisioning.rotate({ id, name });
    await caller.confirm?.();
    const { passphrase } = change;
    const secret = { scheme: "sha256", value: sha256(passphrase) } as const;
    await commitOn(this.#database, name, {
      statements: [
        this.#accounts.newSecret(account, secret),
        await this.#scram.keeping(id, secret, passphrase),
        ...(keepsTokens ? [] : [this.#tokens.endingAllOf(id)]),
        ...change.statements,
      ],
      events: [
        newEvent(
          "agent.rotated",
          { nick: name, tokens_kept: keepsTokens },
          originOf(caller),
          this.#clock(),
        ),
      ],
    });
    this.#revocations.announce({ kind: keepsTokens ? "password" : "account", accountId: id });
    change.settle();
    return this.#registration(name, passphrase);
  }

  /**
   * Turns an existing IRC account into an agent; it keeps its password. On an external network, the
   * account may have no record here; it then opens only IRC until it is rotated.
   *
   * @throws NotFound if there is no such account, Conflict if it is an agent already, Unavailable
   * if IRC is away
   */
  async adopt(nick: string, request: AdoptionRequest, caller: Caller): Promise<Agent> {
    const account = this.#accounts.named(nick);
    if (account?.kind === "agent") throw new Conflict(`"${account.name}" is already an agent`);
    if (account?.kind === "admin" || (account === null && !this.#mayExist(nick))) {
      throw new NotFound(`There is no IRC account "${nick}"`);
    }
    const { type, channels } = request;
    const now = this.#clock();
    const id = account?.id ?? newUlid(now);
    using change = await this.#provisioning.adopt(
      { id, name: account?.name ?? nick, channels },
      account !== null,
    );
    await caller.confirm?.();
    const { name, passphrase } = change;
    const secret = { scheme: "sha256", value: sha256(passphrase) } as const;
    await commitOn(this.#database, name, {
      statements: [
        account === null
          ? this.#accounts.insertion({ id, name, kind: "agent", secret, createdAt: now })
          : this.#accounts.adoption(id),
        this.roster.insertion({ id, name }, request, null, now),
        ...change.statements,
      ],
      events: [newEvent("agent.adopted", { nick: name, type, channels }, originOf(caller), now)],
    }).catch((error: unknown) => {
      throw error instanceof Duplicate ? nameTaken(name) : error;
    });
    change.settle();
    return this.get(nick);
  }

  /**
   * Ends everything that an agent can log in with, and keeps its record.
   *
   * @throws NotFound, or Conflict if the agent is revoked already, or Unavailable if IRC is away
   */
  async revoke(nick: string, caller: Caller): Promise<void> {
    const { id, name } = findActiveAgent(this.#accounts, nick);
    const now = this.#clock();
    using change = await this.#provisioning.suspend({ id, name });
    await commitOn(this.#database, name, {
      statements: [
        this.#accounts.revocation(id, now),
        this.#tokens.endingAllOf(id),
        statement(this.#database.tables.deleteFrom("inbox_messages").where("account_id", "=", id)),
        ...change.statements,
      ],
      events: [newEvent("agent.revoked", { nick: name }, originOf(caller), now)],
    });
    this.#ended(id);
    change.settle();
  }

  /**
   * Removes an agent, active or revoked, with everything that belongs to it, and frees its nick.
   *
   * @throws NotFound, or Unavailable if IRC is away
   */
  async delete(nick: string, caller: Caller): Promise<void> {
    const account = findAgent(this.#accounts, nick);
    const { id, name } = account;
    using change = await this.#provisioning.remove(account, "Agent deleted");
    await commitOn(this.#database, name, {
      statements: [this.#accounts.removal(account), ...change.statements],
      events: [newEvent("agent.deleted", { nick: name }, originOf(caller), this.#clock())],
    });
    this.#ended(id);
    change.settle();
  }

  /** Records a call of the agent over HTTP or MCP. */
  touch(accountId: string): void {
    this.#presence.called(accountId);
  }

  /** Records a report that an agent is present, if there is an agent with this nick. */
  touchNick(nick: string): void {
    const account = this.#accounts.find(nick);
    if (account?.kind === "agent" && account.revokedAt === null) this.touch(account.id);
  }

  /** Records that an IRC session of an account, agent or not, begins or ends. */
  sessionSeen(account: string): void {
    const found = this.#accounts.find(account);
    if (found?.kind === "agent") this.#presence.seen(found.id);
  }

  /** Writes when agents were last seen. Call it before the database is closed. */
  async close(): Promise<void> {
    this.#stopListening();
    await this.#presence.close();
  }

  /** Whether a network account of this name could be an agent. */
  #mayExist(nick: string): boolean {
    return NICK_PATTERN.test(nick) && !this.#accounts.isReserved(nick);
  }

  #ended(accountId: string): void {
    this.sendLimits.forget(accountId);
    this.#presence.forget(accountId);
    this.#revocations.announce({ kind: "account", accountId });
  }

  #registration(nick: string, passphrase: string): Registration {
    return { nick, credentials: { nick, passphrase }, server: this.#serverAddress() };
  }

  #presenceOf(agent: RosterEntry): AgentPresence | null {
    const { id, nick, muteReason } = agent;
    const row = this.roster.row(id);
    if (row === null) return null;
    return {
      id,
      nick,
      isPaused: muteReason !== null,
      isHalted: this.halts.reasonOf(agent) !== null,
      ...this.#seen(row),
    };
  }

  /** When an agent was last seen, and whether it is there. */
  #seen({ account_id: id, name, last_seen }: AgentRow): Pick<AgentPresence, "lastSeen" | "online"> {
    const isConnected = this.#sessions.isOnline(name);
    return {
      lastSeen: isConnected ? this.#clock() : this.#presence.lastSeen(id, last_seen),
      online: isConnected || this.#presence.isPresent(id),
    };
  }

  /** The parts of an agent that are not in the database. */
  #state(row: AgentRow, doing?: DoingOf): AgentState {
    const { account_id: id } = row;
    const messagesPerMinute = this.sendLimits.perMinute(id);
    if (doing === undefined) return { ...this.#seen(row), messagesPerMinute };
    const { lastSeen, online } = this.#seen(row);
    const entry = this.roster.get(id);
    const work = entry === null
      ? AWAY
      : doing({ id, isHalted: this.halts.reasonOf(entry) !== null, lastSeen, online });
    return { lastSeen, online, work, messagesPerMinute };
  }
}

/** How long an agent counts as present after a call over HTTP or MCP, in milliseconds. */
export const PRESENCE = 2 * 60_000;

interface PresenceOptions {
  readonly database: Pick<Database, "commit">;
  readonly roster: Pick<Roster, "seen">;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly log: Log;
}

/** When agents were last seen, by their internal ids. */
class Presence {
  readonly #database: Pick<Database, "commit">;
  readonly #roster: Pick<Roster, "seen">;
  readonly #clock: () => number;
  readonly #lastSeen: DeferredTimes;
  readonly #lastCall = new Map<string, number>();

  constructor(options: PresenceOptions) {
    this.#database = options.database;
    this.#roster = options.roster;
    this.#clock = options.clock;
    this.#lastSeen = new DeferredTimes({ write: (times) => this.#write(times), log: options.log });
  }

  /** Records a call over HTTP or MCP, which makes the agent present for a while. */
  called(id: string): void {
    this.#lastCall.set(id, this.#clock());
    this.seen(id);
  }

  /** Records that the agent was seen, for example when its IRC session begins or ends. */
  seen(id: string): void {
    this.#lastSeen.set(id, this.#clock());
  }

  isPresent(id: string): boolean {
    const time = this.#lastCall.get(id);
    return time !== undefined && this.#clock() - time < PRESENCE;
  }

  /** @param written the time in the database */
  lastSeen(id: string, written: number | null): number | null {
    return this.#lastSeen.latest(id, written);
  }

  /** Forgets an agent that can no longer call. */
  forget(id: string): void {
    this.#lastCall.delete(id);
  }

  /** Writes what is not written yet. */
  async close(): Promise<void> {
    await this.#lastSeen.flush();
  }

  #write(times: ReadonlyMap<string, number>): Promise<unknown> {
    return this.#database.commit({
      statements: Array.from(times, ([id, time]) => this.#roster.seen(id, time)),
    });
  }
}
