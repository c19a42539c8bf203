import {
  type Database,
  type Directory,
  Duplicate,
  statement,
  Unchanged,
} from "../../engines/database/mod.ts";
import { Conflict, NotFound, TooMany } from "../../kernel/errors.ts";
import { newEvent } from "../../engines/events/mod.ts";
import { foldCase, NICK_LENGTH } from "../../engines/irc/mod.ts";
import type { Log } from "../../kernel/log.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import { TimedSweep } from "../../kernel/sweep.ts";
import { newUlid } from "../../kernel/ulid.ts";
import type { AccountDirectory } from "./accounts.ts";
import { DeferredTimes } from "./deferred_times.ts";
import { type Caller, originOf, type Principal, type SessionKey } from "./principal.ts";
import { sha256 } from "./secrets.ts";

/** Most names of one agent: its own, and those with a number. */
export const MOST_SESSIONS = 64;

/** How long the name of a session that has ended is not given to another one, in milliseconds. */
const NAME_RESTS = 24 * 60 * 60_000;

/** How long a session without a call counts as busy: a call may wait for a minute, in milliseconds. */
const BUSY = 90_000;

/** Attempts at a name while other sessions come and go. */
const MAX_TRIES = 10;

/** A session of an agent's client, and the name that it has. Times are Unix milliseconds. */
export interface AgentSession {
  /** The internal id under which it is spoken to: the agent's own, or that of a name with a number. */
  readonly id: string;
  /** The internal id of the agent. */
  readonly agentId: string;
  readonly name: string;
  readonly beganAt: number;
  /** When it was ended by its client; null if it was not. */
  readonly closedAt: number | null;
}

/** A session as the directory holds it. */
interface Held extends AgentSession {
  readonly keyHash: string;
  /** When it ends by silence, as far as the database knows. */
  readonly expiresAt: number;
}

/** A name for a new session: one whose session has ended or is idle, or a new one. */
type Place =
  | { readonly kind: "held" | "idle"; readonly held: Held }
  | { readonly kind: "own"; readonly id: string; readonly name: string }
  | { readonly kind: "new"; readonly name: string };

export interface AgentSessionsOptions {
  readonly database: Database;
  readonly accounts: AccountDirectory;
  readonly scheduler: Scheduler;
  readonly log: Log;
}

/** Whether a session has something that it would lose with its name, such as a claim. */
export type HoldsSomething = (session: AgentSession) => boolean | Promise<boolean>;

/** Called when a session has begun or ended. */
export type AgentSessionListener = (session: AgentSession, isLive: boolean) => void;

/**
 * The sessions of agents: each terminal of an installation, which all show the token of one agent, has
 * a name of its own. The first is the agent itself, and while it lasts, others are called `scout-2`,
 * `scout-3` and so on. A session lasts until its client ends it or is silent for minutes. One row for
 * each name is its lease: a statement takes it only as it was seen, so each name has one session, on
 * all nodes.
 */
export class AgentSessions implements Directory {
  readonly tables = ["agent_sessions"] as const;
  readonly #options: AgentSessionsOptions;
  readonly #byId = new Map<string, Held>();
  readonly #byKey = new Map<string, Held>();
  readonly #byAgent = new Map<string, Map<string, Held>>();
  /** Until when each session lasts without another call, by its key. */
  readonly #lasting = new Map<string, number>();
  readonly #calls: DeferredTimes;
  /** When each session was last heard of on this node, by id. */
  readonly #heard = new Map<string, number>();
  readonly #holdings: HoldsSomething[] = [];
  readonly #listeners = new Set<AgentSessionListener>();
  /** The live sessions of which listeners know, by id. */
  readonly #known = new Map<string, Held>();
  readonly #sweep: TimedSweep;

  private constructor(options: AgentSessionsOptions) {
    const { scheduler, log } = options;
    this.#options = options;
    this.#calls = new DeferredTimes({ write: (times) => this.#writeCalls(times), log });
    this.#sweep = new TimedSweep({
      scheduler,
      log,
      name: "end the sessions of agents",
      task: () => Promise.resolve(this.#look()),
    });
  }

  /** Reads the sessions from the database. */
  static async open(options: AgentSessionsOptions): Promise<AgentSessions> {
    const sessions = new AgentSessions(options);
    await options.database.keepCurrent(sessions);
    options.accounts.onChanged((id, account) => {
      if (account === null || account.revokedAt !== null) sessions.#dropAllOf(id);
    });
    sessions.announce();
    return sessions;
  }

  async load(): Promise<void> {
    const rows = await this.#options.database.tables.selectFrom("agent_sessions")
      .innerJoin("accounts", "accounts.id", "agent_sessions.account_id")
      .selectAll("agent_sessions").select("accounts.name").execute();
    for (const map of [this.#byId, this.#byKey, this.#byAgent]) map.clear();
    for (const row of rows) {
      this.#hold({
        id: row.account_id,
        agentId: row.agent_id,
        name: row.name,
        keyHash: row.key_hash,
        beganAt: row.began_at,
        expiresAt: row.expires_at,
        closedAt: row.closed_at,
      });
    }
  }

  announce(): void {
    this.#sweep.start();
  }

  /** The live session of this internal id, or null. */
  live(id: string): AgentSession | null {
    const held = this.#byId.get(id);
    return held !== undefined && this.#isLive(held) ? held : null;
  }

  /** The live sessions of an agent, by name. */
  liveOf(agentId: string): readonly AgentSession[] {
    return this.of(agentId).filter((held) => this.#isLive(held as Held));
  }

  /** The last session of each name of an agent, live or not, by name. */
  of(agentId: string): readonly AgentSession[] {
    return [...this.#byAgent.get(agentId)?.values() ?? []].sort((one, other) =>
      one.name.length - other.name.length || (one.name < other.name ? -1 : 1)
    );
  }

  /** The names of an agent whose sessions have ended. */
  endedOf(agentId: string): readonly string[] {
    return this.of(agentId).filter((held) => !this.#isLive(held as Held)).map(({ name }) => name);
  }

  /**
   * Whether what somebody has under a name of an agent is left to the agent's other sessions: the
   * session of that name has ended.
   *
   * @param name compared without regard to case
   */
  isLeft(agentId: string, name: string): boolean {
    const folded = foldCase(name);
    for (const held of this.#byAgent.get(agentId)?.values() ?? []) {
      if (foldCase(held.name) === folded) return !this.#isLive(held);
    }
    return false;
  }

  /** The sessions that have ended since a time, in Unix milliseconds. */
  endedSince(time: number): readonly AgentSession[] {
    return [...this.#byId.values()].filter((held) =>
      !this.#isLive(held) && this.#endOf(held) >= time
    );
  }

  /**
   * Calls a listener when a session begins or ends.
   *
   * @returns a function that ends the subscription
   */
  onChanged(listener: AgentSessionListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Asks from now on, before a session that is idle loses its name to another one. */
  askBefore(holds: HoldsSomething): void {
    this.#holdings.push(holds);
  }

  /** Notes that a session is there: it called, or has an open stream. */
  heard({ agentSession }: Principal): void {
    if (agentSession !== undefined) {
      this.#heard.set(agentSession.id, this.#options.scheduler.now());
    }
  }

  /**
   * The caller in its session, which its call prolongs. Only agents have sessions: anybody else stays
   * who it is.
   *
   * @param begins whether a session that is not there begins; without, the caller stays the agent
   * @throws NotFound if the client has ended the session; TooMany if the agent has too many
   */
  enter(caller: Caller, key: SessionKey, begins = true): Principal | Promise<Principal> {
    const { principal } = caller;
    const { id: agentId } = principal;
    if (principal.kind !== "agent" || agentId === null) return principal;
    const keyHash = hashOf(agentId, key);
    const held = this.#byKey.get(keyHash);
    if (held !== undefined) {
      if (held.closedAt !== null) throw sessionEnded();
      if (this.#isLive(held)) {
        this.#prolong(held, key);
        return asSession(principal, held);
      }
    }
    if (!begins) return principal;
    return this.#begin(caller, agentId, { ...key, hash: keyHash })
      .then((begun) => asSession(principal, begun));
  }

  /**
   * Ends a session at once, as its client asks.
   *
   * @throws NotFound if there is none
   */
  async end(caller: Caller, key: Pick<SessionKey, "id">): Promise<void> {
    const { database, scheduler } = this.#options;
    const held = this.#byKey.get(hashOf(caller.principal.id ?? "", key));
    if (held === undefined || held.closedAt !== null) throw sessionEnded();
    const now = scheduler.now();
    const ending = database.tables.updateTable("agent_sessions").set({ closed_at: now })
      .where("account_id", "=", held.id).where("key_hash", "=", held.keyHash)
      .where("closed_at", "is", null);
    const committed = () => {
      this.#hold({ ...held, closedAt: now });
      this.announce();
    };
    const data = { nick: this.#nickOf(held), session: held.name };
    try {
      await database.commit({
        statements: [statement(ending, { mustChange: true, committed })],
        events: [newEvent("agent.session_ended", data, originOf(caller), now)],
      });
    } catch (error) {
      throw error instanceof Unchanged ? sessionEnded() : error;
    }
  }

  /** Writes when sessions were last heard of. */
  async close(): Promise<void> {
    await this.#sweep.close();
    await this.#calls.flush();
  }

  /** Gives a session a name. */
  async #begin(
    caller: Caller,
    agentId: string,
    key: SessionKey & { readonly hash: string },
  ): Promise<Held> {
    const { database } = this.#options;
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const held = this.#byKey.get(key.hash);
      if (held !== undefined && this.#isLive(held)) return held;
      // A session that was silent for too long comes back, unless another has its name now.
      const place: Place = held === undefined
        ? this.#placeFor(agentId) ?? await this.#idlePlace(agentId)
        : { kind: "held", held };
      try {
        return await this.#take(caller, agentId, place, key);
      } catch (error) {
        if (!(error instanceof Duplicate || error instanceof Unchanged)) throw error;
        // Another session took the name, here or on another node.
        await database.peers?.catchUp();
      }
    }
    throw new Conflict("The sessions of this agent keep changing: try again");
  }

  /** Null if every name has a live session. */
  #placeFor(agentId: string): Place | null {
    const { accounts, scheduler } = this.#options;
    const agent = accounts.get(agentId);
    if (agent === null) throw new NotFound("The agent is gone");
    const own = this.#byId.get(agentId);
    if (own === undefined) return { kind: "own", id: agentId, name: agent.name };
    if (!this.#isLive(own)) return { kind: "held", held: own };
    const others = (this.of(agentId) as readonly Held[]).filter((held) =>
      held.id !== agentId && !this.#isLive(held)
    );
    const rested = scheduler.now() - NAME_RESTS;
    const free = others.find((held) => this.#endOf(held) <= rested);
    if (free !== undefined) return { kind: "held", held: free };
    const name = this.#newName(agentId, agent.name);
    if (name !== null) return { kind: "new", name };
    const [longest] = others.toSorted((one, other) => this.#endOf(one) - this.#endOf(other));
    return longest === undefined ? null : { kind: "held", held: longest };
  }

  /**
   * The name of the session that was silent for longest and has nothing: clients that begin a session
   * for each call end none.
   *
   * @throws TooMany if there is none
   */
  async #idlePlace(agentId: string): Promise<Place> {
    const now = this.#options.scheduler.now();
    const heardAt = (held: Held) => this.#heard.get(held.id) ?? held.beganAt;
    const idle = (this.of(agentId) as readonly Held[])
      .filter((held) => held.id !== agentId && now - heardAt(held) >= BUSY)
      .sort((one, other) => heardAt(one) - heardAt(other));
    for (const held of idle) {
      const answers = await Promise.all(this.#holdings.map((holds) => holds(held)));
      if (!answers.includes(true)) return { kind: "idle", held };
    }
    const name = this.#options.accounts.get(agentId)?.name ?? "The agent";
    throw new TooMany(
      `"${name}" has ${MOST_SESSIONS} sessions: end one of them first`,
      BUSY / 1000,
    );
  }

  /** The first name with a number that nobody has; null if there is none. */
  #newName(agentId: string, nick: string): string | null {
    const { accounts } = this.#options;
    if ((this.#byAgent.get(agentId)?.size ?? 0) >= MOST_SESSIONS) return null;
    for (let number = 2; number <= 2 * MOST_SESSIONS; number++) {
      const name = numbered(nick, number);
      if (accounts.find(name) === null && !accounts.isRefused(name)) return name;
    }
    return null;
  }

  /** @throws Duplicate, Unchanged if the place is taken meanwhile */
  async #take(
    caller: Caller,
    agentId: string,
    place: Place,
    { hash, silence }: SessionKey & { readonly hash: string },
  ): Promise<Held> {
    const { database, accounts, scheduler } = this.#options;
    const { tables } = database;
    const now = scheduler.now();
    const { id, name } = "held" in place
      ? place.held
      : place.kind === "own"
      ? place
      : { id: newUlid(now), name: place.name };
    const begun: Held = {
      id,
      agentId,
      name,
      keyHash: hash,
      beganAt: now,
      expiresAt: now + silence,
      closedAt: null,
    };
    const columns = { key_hash: hash, began_at: now, expires_at: now + silence, closed_at: null };
    const query = "held" in place
      ? tables.updateTable("agent_sessions").set(columns).where("account_id", "=", id)
        .where("key_hash", "=", place.held.keyHash)
        .where((is) => {
          const over = [is("closed_at", "is not", null), is("expires_at", "<=", now)];
          // Nobody has heard of it since, here or on another node.
          const idle = place.kind === "idle" ? [is("expires_at", "=", place.held.expiresAt)] : [];
          return is.or([...over, ...idle]);
        })
      : tables.insertInto("agent_sessions")
        .values({ account_id: id, agent_id: agentId, ...columns });
    const committed = () => {
      this.#heard.set(id, now);
      this.#hold(begun);
      this.announce();
    };
    const agent = accounts.get(agentId);
    await database.commit({
      statements: [
        ...agent === null ? [] : [accounts.guard(agent)],
        ...place.kind === "new" ? [accounts.sessionInsertion({ id, name, agentId }, now)] : [],
        statement(query, { mustChange: true, committed }),
      ],
      events: [
        newEvent(
          "agent.session_began",
          { nick: agent?.name ?? name, session: name },
          originOf(caller),
          now,
        ),
      ],
    });
    return begun;
  }

  #prolong(held: Held, { silence }: SessionKey): void {
    const until = this.#options.scheduler.now() + silence;
    if (until <= this.#endOf(held)) return;
    this.#lasting.set(held.keyHash, until);
    this.#calls.set(held.keyHash, until);
  }

  #isLive(held: Held): boolean {
    return held.closedAt === null && this.#endOf(held) > this.#options.scheduler.now();
  }

  /** When a session has ended, or will end without another call. */
  #endOf({ keyHash, expiresAt, closedAt }: Held): number {
    return closedAt ?? Math.max(expiresAt, this.#lasting.get(keyHash) ?? 0);
  }

  #nickOf({ agentId, name }: Held): string {
    return this.#options.accounts.get(agentId)?.name ?? name;
  }

  #hold(held: Held): void {
    const before = this.#byId.get(held.id);
    if (before !== undefined && before.keyHash !== held.keyHash) {
      this.#byKey.delete(before.keyHash);
      this.#lasting.delete(before.keyHash);
      this.#calls.delete(before.keyHash);
    }
    this.#byId.set(held.id, held);
    this.#byKey.set(held.keyHash, held);
    const names = this.#byAgent.get(held.agentId) ?? new Map<string, Held>();
    this.#byAgent.set(held.agentId, names.set(held.id, held));
  }

  /** Forgets the sessions of an agent that has ended. */
  #dropAllOf(agentId: string): void {
    for (const held of this.#byAgent.get(agentId)?.values() ?? []) {
      this.#byId.delete(held.id);
      this.#byKey.delete(held.keyHash);
      this.#lasting.delete(held.keyHash);
      this.#calls.delete(held.keyHash);
      this.#heard.delete(held.id);
    }
    if (this.#byAgent.delete(agentId)) this.announce();
  }

  /** Tells which sessions have begun and ended; returns when the next one ends. */
  #look(): number {
    let next = Infinity;
    for (const [id, known] of this.#known) {
      const held = this.#byId.get(id);
      if (held?.keyHash === known.keyHash && this.#isLive(held)) continue;
      this.#known.delete(id);
      this.#tell(known, false);
    }
    for (const held of this.#byId.values()) {
      if (!this.#isLive(held)) continue;
      next = Math.min(next, this.#endOf(held));
      if (this.#known.has(held.id)) continue;
      this.#known.set(held.id, held);
      this.#tell(held, true);
    }
    return next;
  }

  #tell(session: AgentSession, isLive: boolean): void {
    for (const listener of this.#listeners) {
      try {
        listener(session, isLive);
      } catch (error) {
        this.#options.log.error("A listener for sessions of agents failed", { error });
      }
    }
  }

  /** Writes until when sessions last that have called since. */
  async #writeCalls(times: ReadonlyMap<string, number>): Promise<void> {
    const { database } = this.#options;
    await database.commit({
      statements: Array.from(times, ([keyHash, until]) => {
        const update = database.tables.updateTable("agent_sessions").set({ expires_at: until })
          .where("key_hash", "=", keyHash).where("expires_at", "<", until);
        return statement(update, {
          committed: (changes) => {
            const held = this.#byKey.get(keyHash);
            if (changes > 0 && held !== undefined) this.#hold({ ...held, expiresAt: until });
          },
        });
      }),
    });
  }
}

/** A name with a number. A long one loses its end, so that it stays a nick. */
function numbered(nick: string, number: number): string {
  const end = `-${number}`;
  return nick.slice(0, NICK_LENGTH - end.length) + end;
}

/** The key of a session is a credential of its agent alone: another agent's has another hash. */
function hashOf(agentId: string, { id }: Pick<SessionKey, "id">): string {
  return sha256(`${agentId} ${id}`);
}

/** An agent as one of its sessions. */
function asSession(principal: Principal, { id, name }: AgentSession): Principal {
  if (id === principal.id) return principal;
  return { ...principal, name, agentSession: { id, agent: principal.name } };
}

function sessionEnded(): NotFound {
  return new NotFound("This session has ended: begin a new one");
}
