import { type Change, type Database, Unchanged } from "../../engines/database/mod.ts";
import { Conflict, NotFound } from "../../kernel/errors.ts";
import type { Account, AccountDirectory } from "../identity/mod.ts";
import { type ChannelStatus, foldCase } from "../../engines/irc/mod.ts";
import type { AgentWork } from "../work_states.ts";
import { firstIndex } from "../../kernel/first_index.ts";

/** How many messages an agent may send: `burst` at once, then `messages_per_second`. */
export interface AgentRate {
  readonly messages_per_second: number;
  readonly burst: number;
}

/** An agent, for callers. */
export interface Agent {
  readonly nick: string;
  readonly type: string;
  /** With their `#`. */
  readonly channels: string[];
  readonly revoked: boolean;
  /** Whether it is muted until it is resumed. */
  readonly paused: boolean;
  readonly pause_reason: string | null;
  /** ISO 8601. */
  readonly created_at: string;
  readonly last_seen: string | null;
  /** Whether it has a live IRC session or has called within two minutes. */
  readonly online: boolean;
  /** What it does. Absent if nobody asked. */
  readonly state?: AgentWork;
  /** How long an agent that works has not called, in minutes; null for any other. */
  readonly quiet_minutes?: number | null;
  /** Messages that it sent within the last minute, anywhere. */
  readonly messages_per_minute: number;
  /** Null for the default rate. */
  readonly rate_limit: AgentRate | null;
}

/** Selects agents, revoked ones included. */
export function selectAgents({ tables }: Database) {
  return tables.selectFrom("agents")
    .innerJoin("accounts", "accounts.id", "agents.account_id")
    .select([
      "account_id",
      "name",
      "type",
      "channels",
      "registered_at",
      "revoked_at",
      "last_seen",
      "paused_at",
      "pause_reason",
      "messages_per_second",
      "burst",
      "slots",
    ]);
}

/** @throws NotFound */
export function findAgent(accounts: AccountDirectory, nick: string): Account {
  const account = accounts.named(nick);
  if (account?.kind !== "agent") throw noSuchAgent(nick);
  return account;
}

/** Rows of agents by the internal id of the account, such as a `Roster`. */
interface Rows {
  row(id: string): AgentRow | null;
}

/** @throws NotFound */
export function findAgentRow(rows: Rows, account: Account): AgentRow {
  const row = rows.row(account.id);
  if (row === null) throw noSuchAgent(account.name);
  return row;
}

/** @throws NotFound, or Conflict if the agent is revoked */
export function findActiveAgent(accounts: AccountDirectory, nick: string): Account {
  const account = findAgent(accounts, nick);
  if (account.revokedAt !== null) throw new Conflict(`The agent "${account.name}" is revoked`);
  return account;
}

/**
 * Commits a change of an account that was found to allow it a moment ago.
 *
 * @throws Conflict if it no longer does
 */
export async function commitOn(database: Database, name: string, change: Change): Promise<void> {
  try {
    await database.commit(change);
  } catch (error) {
    if (!(error instanceof Unchanged)) throw error;
    throw new Conflict(`"${name}" was changed by somebody else at the same time`);
  }
}

function noSuchAgent(nick: string): NotFound {
  return new NotFound(`There is no agent "${nick}"`);
}

/** An agent's row in the database. */
export interface AgentRow {
  readonly account_id: string;
  readonly name: string;
  readonly type: string;
  /** JSON. */
  readonly channels: string;
  /** Times are Unix milliseconds. */
  readonly registered_at: number;
  readonly revoked_at: number | null;
  readonly last_seen: number | null;
  readonly paused_at: number | null;
  readonly pause_reason: string | null;
  readonly messages_per_second: number | null;
  readonly burst: number | null;
  /** JSON. */
  readonly slots: string | null;
}

/** The parts of an agent that are not in the database. */
export interface AgentState {
  /** Unix milliseconds. */
  readonly lastSeen: number | null;
  readonly online: boolean;
  readonly messagesPerMinute: number;
  /** Absent if nobody asked. */
  readonly work?: AgentActivity;
}

/** What an agent does. */
export interface AgentActivity {
  readonly state: AgentWork;
  /** How long an agent that works has not called, in minutes; null for any other. */
  readonly quietMinutes: number | null;
}

/** Builds the record of an agent. */
export function describeAgent(row: AgentRow, state: AgentState): Agent {
  const { messages_per_second, burst } = row;
  const { work } = state;
  return {
    nick: row.name,
    type: row.type,
    channels: JSON.parse(row.channels),
    revoked: row.revoked_at !== null,
    paused: row.paused_at !== null,
    pause_reason: row.pause_reason,
    created_at: new Date(row.registered_at).toISOString(),
    last_seen: state.lastSeen === null ? null : new Date(state.lastSeen).toISOString(),
    online: state.online,
    ...(work === undefined ? {} : { state: work.state, quiet_minutes: work.quietMinutes }),
    messages_per_minute: state.messagesPerMinute,
    rate_limit: messages_per_second === null || burst === null
      ? null
      : { messages_per_second, burst },
  };
}

export const AGENT_TYPES = ["worker", "orchestrator", "observer", "operator"] as const;

/** An agent's type, which decides its status in its channels. */
export type AgentType = (typeof AGENT_TYPES)[number];

/** Removes duplicate channels, compared without regard to case; keeps the first. */
export function uniqueChannels(channels: readonly string[]): string[] {
  const byFolded = new Map<string, string>();
  for (const channel of channels) {
    const folded = foldCase(channel);
    if (!byFolded.has(folded)) byFolded.set(folded, channel);
  }
  return [...byFolded.values()];
}

/** The status that an agent of a type has in its channels. */
export function channelStatusOf(type: string): ChannelStatus {
  switch (type) {
    case "operator":
    case "orchestrator":
      return "operator";
    case "worker":
      return "voice";
    default:
      return "none";
  }
}

/** A position in the order of nicks. */
interface Placed {
  readonly folded: string;
  row: AgentRow;
}

/** The requested part of a list. */
export interface AgentPage {
  /** Only agents whose nick comes after this one, which need not exist. */
  readonly after?: string | undefined;
  /** How many at most. */
  readonly limit?: number | undefined;
}

/** Records of agents in the order of their nicks, compared without regard to case. */
export class AgentRows {
  readonly #byId = new Map<string, Placed>();
  #sorted: Placed[] = [];

  /** Replaces all records. */
  load(rows: readonly AgentRow[]): void {
    this.#byId.clear();
    this.#sorted = rows.map((row) => ({ folded: foldCase(row.name), row }))
      .sort((one, other) => one.folded < other.folded ? -1 : 1);
    for (const placed of this.#sorted) this.#byId.set(placed.row.account_id, placed);
  }

  /** The record of this internal id, or null. */
  get(id: string): AgentRow | null {
    return this.#byId.get(id)?.row ?? null;
  }

  /** Records by nick: all, or a page. */
  list({ after, limit = Infinity }: AgentPage): AgentRow[] {
    const from = after === undefined ? 0 : this.#placeAfter(foldCase(after));
    return this.#sorted.slice(from, from + limit).map(({ row }) => row);
  }

  /** Adds a record, or replaces the one of the same agent. */
  put(row: AgentRow): void {
    this.remove(row.account_id);
    const placed = { folded: foldCase(row.name), row };
    this.#sorted.splice(this.#placeAfter(placed.folded), 0, placed);
    this.#byId.set(row.account_id, placed);
  }

  /** Changes columns of a record, if there is one. Its name stays. */
  change(id: string, columns: Partial<Omit<AgentRow, "name">>): void {
    const placed = this.#byId.get(id);
    if (placed !== undefined) placed.row = { ...placed.row, ...columns };
  }

  remove(id: string): void {
    const placed = this.#byId.get(id);
    if (placed === undefined) return;
    this.#byId.delete(id);
    this.#sorted.splice(this.#placeAfter(placed.folded) - 1, 1);
  }

  /** The number of records up to a folded nick, inclusive. */
  #placeAfter(folded: string): number {
    const { length } = this.#sorted;
    return firstIndex(length, (index) => (this.#sorted[index] as Placed).folded > folded);
  }
}
