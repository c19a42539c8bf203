import {
  type Database,
  type Directory,
  type Statement,
  statement,
} from "../../engines/database/mod.ts";
import { TooMany } from "../../kernel/errors.ts";
import type { AccountDirectory, AgentSession, AgentSessions } from "../identity/mod.ts";
import { foldCase } from "../../engines/irc/mod.ts";
import {
  type AgentPage,
  type AgentRate,
  type AgentRow,
  AgentRows,
  selectAgents,
} from "./records.ts";
import type { AdoptionRequest } from "./schemas.ts";

/** An active agent, or a live session of one. */
export interface RosterEntry {
  /** The internal id of its account. */
  readonly id: string;
  /** That of the agent; another one if this is one of its further sessions. */
  readonly agentId: string;
  readonly nick: string;
  readonly type: string;
  /** With their `#`. */
  readonly channels: readonly string[];
  /** The reason for a pause, as a sentence; null if it is not paused. */
  readonly muteReason: string | null;
  /** Null for the default rate. */
  readonly rate: AgentRate | null;
  /** Its own limits of slots, or null. */
  readonly slots: SlotLimits | null;
}

/** The columns of an agent with its limits. */
export type HeldColumns = Pick<
  AgentRow,
  "paused_at" | "pause_reason" | "messages_per_second" | "burst" | "slots"
>;

export interface RosterOptions {
  readonly database: Database;
  readonly accounts: AccountDirectory;
  readonly sessions: Pick<AgentSessions, "live" | "liveOf">;
}

/** The sources of the roster. */
type RosterRow =
  & HeldColumns
  & Pick<AgentRow, "account_id" | "name" | "type" | "channels">;

/**
 * Every agent, in memory. Active agents are indexed by id and nick, because every message needs a
 * look-up. The records of all are listed by nick. The statements that change agents keep both
 * current.
 */
export class Roster implements Directory {
  readonly tables = ["accounts", "agents"] as const;
  readonly #database: Database;
  readonly #accounts: Pick<AccountDirectory, "session">;
  readonly #sessions: Pick<AgentSessions, "live" | "liveOf">;
  /** Including revoked agents. */
  readonly #rows = new AgentRows();
  readonly #byId = new Map<string, RosterEntry>();
  readonly #byNick = new Map<string, RosterEntry>();
  /** The number of agents registered with each channel, by its folded name. */
  readonly #byChannel = new Map<string, number>();

  private constructor(options: RosterOptions) {
    this.#database = options.database;
    this.#accounts = options.accounts;
    this.#sessions = options.sessions;
  }

  /** Reads all agents from the database. */
  static async open(options: RosterOptions): Promise<Roster> {
    const { database, accounts } = options;
    const roster = new Roster(options);
    await database.keepCurrent(roster);
    accounts.onChanged((id, account) => {
      if (account === null || account.revokedAt !== null) roster.#remove(id);
      if (account === null) roster.#rows.remove(id);
      else roster.#rows.change(id, { revoked_at: account.revokedAt });
    });
    return roster;
  }

  async load(): Promise<void> {
    const rows = await selectAgents(this.#database).execute();
    for (const map of [this.#byId, this.#byNick, this.#byChannel]) map.clear();
    this.#rows.load(rows);
    for (const row of rows) {
      if (row.revoked_at === null) this.#add(entryOf(row));
    }
  }

  /** The agent of this internal id, or the live session of one; or null. */
  get(id: string): RosterEntry | null {
    return this.#byId.get(id) ?? this.#entryOf(this.#sessions.live(id));
  }

  /** The same by nick, compared without regard to case. */
  find(nick: string): RosterEntry | null {
    const agent = this.#byNick.get(foldCase(nick));
    if (agent !== undefined) return agent;
    const session = this.#accounts.session(nick);
    return session === null ? null : this.#entryOf(this.#sessions.live(session.id));
  }

  /** Who gets what is said to a nick: the name of a session that has ended stands for its agent. */
  receiver(nick: string): RosterEntry | null {
    const found = this.find(nick);
    if (found !== null) return found;
    const session = this.#accounts.session(nick);
    return session === null ? null : this.get(session.agentId);
  }

  /**
   * All who get what is said to a nick. While an agent's own session has ended and further ones last,
   * what is for the agent is for these too: somebody who works has to read it.
   */
  receivers(nick: string): readonly RosterEntry[] {
    const found = this.receiver(nick);
    if (found === null) return [];
    const isFurther = found.id !== found.agentId;
    if (isFurther || this.#sessions.live(found.id) !== null) return [found];
    return [found, ...this.sessionsOf(found.id)];
  }

  /** Whether there is no agent. */
  get isEmpty(): boolean {
    return this.#byId.size === 0;
  }

  /** Whether an agent is registered with this channel, compared without regard to case. */
  assigns(channel: string): boolean {
    return this.#byChannel.has(foldCase(channel));
  }

  all(): Iterable<RosterEntry> {
    return this.#byId.values();
  }

  /** Every agent, and after each its further live sessions. */
  *everybody(): Generator<RosterEntry> {
    for (const agent of this.#byId.values()) {
      yield agent;
      yield* this.sessionsOf(agent.id);
    }
  }

  /** The further live sessions of an agent, which have names of their own. */
  sessionsOf(agentId: string): readonly RosterEntry[] {
    return this.#sessions.liveOf(agentId).flatMap((session) =>
      session.id === agentId ? [] : this.#entryOf(session) ?? []
    );
  }

  /** The records of agents by nick, of revoked ones too: all, or a page. */
  rows(page: AgentPage = {}): readonly AgentRow[] {
    return this.#rows.list(page);
  }

  /** The record of an agent, which may be revoked, or null. */
  row(id: string): AgentRow | null {
    return this.#rows.get(id);
  }

  /**
   * The statement that registers an account as an agent, to run after the one that creates or
   * adopts the account.
   *
   * @param now Unix milliseconds
   */
  insertion(
    { id, name }: { readonly id: string; readonly name: string },
    { type, channels }: AdoptionRequest,
    rate: AgentRate | null,
    now: number,
  ): Statement {
    const row = {
      account_id: id,
      type,
      channels: JSON.stringify(channels),
      registered_at: now,
      last_seen: null,
      paused_at: null,
      pause_reason: null,
      ...rateColumns(rate),
      slots: null,
    };
    return statement(this.#database.tables.insertInto("agents").values(row), {
      committed: () => {
        this.#rows.put({ ...row, name, revoked_at: null });
        this.#add(entryOf({ ...row, name }));
      },
    });
  }

  /** The statement that stores when an agent was last seen, in Unix milliseconds. */
  seen(id: string, time: number): Statement {
    const update = this.#database.tables.updateTable("agents").set({ last_seen: time })
      .where("account_id", "=", id);
    return statement(update, { committed: () => this.#rows.change(id, { last_seen: time }) });
  }

  /**
   * The statement that changes an agent's limits; it rolls back its transaction if there is no such
   * agent.
   */
  holding(id: string, columns: Partial<HeldColumns>): Statement {
    const update = this.#database.tables.updateTable("agents").set(columns)
      .where("account_id", "=", id);
    return statement(update, {
      mustChange: true,
      committed: () => {
        this.#rows.change(id, columns);
        const entry = this.#byId.get(id);
        if (entry === undefined) return;
        this.#remove(id);
        this.#add({ ...entry, ...heldAs(columns) });
      },
    });
  }

  /** A session is as its agent is, but for its name; null if the agent has ended. */
  #entryOf(session: AgentSession | null): RosterEntry | null {
    const agent = session === null ? undefined : this.#byId.get(session.agentId);
    return session === null || agent === undefined
      ? null
      : { ...agent, id: session.id, nick: session.name };
  }

  #add(entry: RosterEntry): void {
    this.#byId.set(entry.id, entry);
    this.#byNick.set(foldCase(entry.nick), entry);
    this.#countChannels(entry, 1);
  }

  #remove(id: string): void {
    const entry = this.#byId.get(id);
    if (entry === undefined) return;
    this.#byId.delete(id);
    this.#byNick.delete(foldCase(entry.nick));
    this.#countChannels(entry, -1);
  }

  #countChannels({ channels }: RosterEntry, change: 1 | -1): void {
    for (const channel of channels) {
      const folded = foldCase(channel);
      const count = (this.#byChannel.get(folded) ?? 0) + change;
      if (count === 0) this.#byChannel.delete(folded);
      else this.#byChannel.set(folded, count);
    }
  }
}

/** A rate, as stored in the database. */
export function rateColumns(
  rate: AgentRate | null,
): Pick<AgentRow, "messages_per_second" | "burst"> {
  const { messages_per_second = null, burst = null } = rate ?? {};
  return { messages_per_second, burst };
}

function entryOf(row: RosterRow): RosterEntry {
  return {
    id: row.account_id,
    agentId: row.account_id,
    nick: row.name,
    type: row.type,
    channels: JSON.parse(row.channels),
    muteReason: null,
    rate: null,
    slots: null,
    ...heldAs(row),
  };
}

/** The values of the given columns, without the absent ones. */
function heldAs(
  { paused_at, pause_reason: reason, messages_per_second, burst, slots }: Partial<
    HeldColumns
  >,
): Partial<Pick<RosterEntry, "muteReason" | "rate" | "slots">> {
  const muteReason = paused_at === null
    ? null
    : `This agent is paused${reason === null ? "" : `: ${reason}`}`;
  const rate = messages_per_second === null ? null : { messages_per_second, burst };
  return {
    ...(paused_at === undefined ? {} : { muteReason }),
    ...(slots === undefined ? {} : { slots: slots === null ? null : JSON.parse(slots) }),
    ...(messages_per_second === undefined ? {} : { rate: rate as AgentRate | null }),
  };
}

/** What an agent can have several of at once, up to a limit. */
export const SLOTS = ["claims", "workspaces", "reviews", "calls"] as const;
export type Slot = (typeof SLOTS)[number];

/** Limits by slot; null if there is none. */
export type SlotLimits = Readonly<Record<Slot, number | null>>;

/** The limits of an agent's slots. */
export interface AgentSlots {
  /** Those that hold. */
  readonly limits: Readonly<Record<Slot, number>>;
  /** Its own ones; null if the limit is that of its type, or the general one. */
  readonly own: SlotLimits;
}

export interface SlotsOptions {
  readonly roster: {
    get(id: string): { readonly type: string; readonly slots: SlotLimits | null } | null;
  };
  /** The limits of every account without others. */
  readonly general: Readonly<Record<Slot, number>>;
  /** The limits of types of agents. */
  readonly types: Readonly<Record<string, Readonly<Partial<Record<Slot, number | undefined>>>>>;
}

/** How many slots each account has: its own number, else that of its type, else the general one. */
export class Slots {
  readonly #options: SlotsOptions;

  constructor(options: SlotsOptions) {
    this.#options = options;
  }

  /** @param key the internal id of an account, or another key that has no limits of its own */
  limitOf(slot: Slot, key: string | null): number {
    const { roster, general, types } = this.#options;
    const agent = key === null ? null : roster.get(key);
    return agent?.slots?.[slot] ?? types[agent?.type ?? ""]?.[slot] ?? general[slot];
  }

  of(accountId: string): AgentSlots {
    const limits = (slot: Slot) => this.limitOf(slot, accountId);
    return {
      limits: {
        claims: limits("claims"),
        workspaces: limits("workspaces"),
        reviews: limits("reviews"),
        calls: limits("calls"),
      },
      own: this.#options.roster.get(accountId)?.slots ?? NONE,
    };
  }
}

/** Most names of what fills a slot in a refusal. */
const MAX_NAMED = 20;

const NONE: SlotLimits = Object.freeze({
  claims: null,
  workspaces: null,
  reviews: null,
  calls: null,
});

/**
 * The refusal of one more in a slot that is full.
 *
 * @param filling names what fills it
 * @param advice what makes room
 */
export function slotFull(
  { slot, limit, filling, advice }: {
    readonly slot: Slot;
    readonly limit: number;
    readonly filling: readonly string[];
    readonly advice: string;
  },
  details: Readonly<Record<string, unknown>> = {},
): TooMany {
  const rest = filling.length - MAX_NAMED;
  const named = filling.slice(0, MAX_NAMED).join(", ") + (rest > 0 ? ` and ${rest} more` : "");
  const told = named === "" ? "" : ` with ${named}`;
  return new TooMany(
    `Your slot "${slot}" is full${told} (limit ${limit}): ${advice}`,
    undefined,
    details,
  );
}
