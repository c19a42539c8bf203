import type { StatementSync } from "node:sqlite";
import type { Database } from "../database/mod.ts";
import { foldCase } from "../irc/mod.ts";
import type { AgentRate } from "./schemas.ts";

/** An agent as long as it is not revoked. */
export interface RosterEntry {
  /** The internal id of its account. */
  readonly id: string;
  readonly nick: string;
  readonly type: string;
  /** With their `#`. */
  readonly channels: readonly string[];
  /** Why it may say nothing, as a sentence; null where it may. */
  readonly muteReason: string | null;
  /** Null where it may send as much as everybody. */
  readonly rate: AgentRate | null;
}

/**
 * Every agent that is not revoked, in memory: what is asked for each message that anybody sends. It
 * is brought up to date from the database after each change of an agent.
 */
export class Roster {
  readonly #byId = new Map<string, RosterEntry>();
  readonly #byNick = new Map<string, RosterEntry>();
  /** How many agents are registered with each channel, by its folded name. */
  readonly #byChannel = new Map<string, number>();
  readonly #select: StatementSync;

  constructor(database: Database) {
    const columns = `SELECT id, name, type, channels, paused_at, pause_reason, messages_per_second,
        burst
      FROM agents JOIN accounts ON accounts.id = agents.account_id
      WHERE kind = 'agent' AND revoked_at IS NULL`;
    this.#select = database.prepare(`${columns} AND id = ?`);
    for (const row of database.prepare(columns).all()) this.#add(entryOf(row));
  }

  /** The agent of this internal id, or null. */
  get(id: string): RosterEntry | null {
    return this.#byId.get(id) ?? null;
  }

  /** The agent of this nick, compared without regard to case, or null. */
  find(nick: string): RosterEntry | null {
    return this.#byNick.get(foldCase(nick)) ?? null;
  }

  /** Whether an agent is registered with this channel, compared without regard to case. */
  assigns(channel: string): boolean {
    return this.#byChannel.has(foldCase(channel));
  }

  all(): Iterable<RosterEntry> {
    return this.#byId.values();
  }

  /** Takes in what was changed of an agent, or that it is gone. */
  refresh(id: string): void {
    const old = this.#byId.get(id);
    if (old !== undefined) {
      this.#byId.delete(id);
      this.#byNick.delete(foldCase(old.nick));
      this.#countChannels(old, -1);
    }
    const row = this.#select.get(id);
    if (row !== undefined) this.#add(entryOf(row));
  }

  #add(entry: RosterEntry): void {
    this.#byId.set(entry.id, entry);
    this.#byNick.set(foldCase(entry.nick), entry);
    this.#countChannels(entry, 1);
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

function entryOf(row: ReturnType<StatementSync["all"]>[number]): RosterEntry {
  const { messages_per_second: perSecond, burst, pause_reason: reason } = row;
  const paused = row["paused_at"] !== null;
  return {
    id: String(row["id"]),
    nick: String(row["name"]),
    type: String(row["type"]),
    channels: JSON.parse(String(row["channels"])),
    muteReason: paused ? `This agent is paused${reason === null ? "" : `: ${reason}`}` : null,
    rate: perSecond === null
      ? null
      : { messages_per_second: Number(perSecond), burst: Number(burst) },
  };
}
