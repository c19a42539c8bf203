import { type Change, type Database, Unchanged } from "../database/mod.ts";
import { Conflict, NotFound } from "../errors.ts";
import type { Account, AccountDirectory } from "../identity/mod.ts";
import type { AgentWork } from "../work_states.ts";
import type { AgentRate } from "./schemas.ts";

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
  const account = accounts.find(nick);
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
