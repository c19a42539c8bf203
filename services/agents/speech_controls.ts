import type { Database, NewEvent } from "../database/mod.ts";
import { newEvent } from "../events/mod.ts";
import { type Account, type AccountDirectory, type Caller, originOf } from "../identity/mod.ts";
import { commitOn, findActiveAgent, findAgentRow } from "./records.ts";
import { type HeldColumns, rateColumns, type Roster } from "./roster.ts";
import type { AgentRate, Pause } from "./schemas.ts";
import type { SlotLimits } from "./slots.ts";

export interface SpeechControlsOptions {
  readonly database: Database;
  readonly accounts: AccountDirectory;
  readonly roster: Roster;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/**
 * Pauses and resumes agents, and sets their rates and slots. A change is on disk, with its event, before it
 * is acknowledged, and applies at once. A call that changes nothing writes no event.
 */
export class SpeechControls {
  readonly #database: Database;
  readonly #accounts: AccountDirectory;
  readonly #roster: Roster;
  readonly #clock: () => number;

  constructor(options: SpeechControlsOptions) {
    this.#database = options.database;
    this.#accounts = options.accounts;
    this.#roster = options.roster;
    this.#clock = options.clock;
  }

  /**
   * Mutes an agent everywhere until it is resumed; its sessions stay. Pausing it again changes the
   * reason.
   *
   * @throws NotFound, or Conflict if the agent is revoked
   */
  async pause(nick: string, { reason }: Pause, caller: Caller): Promise<void> {
    const account = findActiveAgent(this.#accounts, nick);
    const row = findAgentRow(this.#roster, account);
    if (row.paused_at !== null && row.pause_reason === reason) return;
    const now = this.#clock();
    const columns = { paused_at: row.paused_at ?? now, pause_reason: reason };
    const data = { nick: account.name, reason };
    await this.#commit(account, columns, newEvent("agent.paused", data, originOf(caller), now));
  }

  /**
   * Resumes a paused agent.
   *
   * @throws NotFound, or Conflict if the agent is revoked
   */
  async resume(nick: string, caller: Caller): Promise<void> {
    const account = findActiveAgent(this.#accounts, nick);
    const row = findAgentRow(this.#roster, account);
    if (row.paused_at === null) return;
    const data = { nick: account.name };
    const event = newEvent("agent.resumed", data, originOf(caller), this.#clock());
    await this.#commit(account, { paused_at: null, pause_reason: null }, event);
  }

  /**
   * Sets an agent's own message rate; null removes it.
   *
   * @throws NotFound, or Conflict if the agent is revoked
   */
  async setRate(nick: string, rate: AgentRate | null, caller: Caller): Promise<void> {
    const account = findActiveAgent(this.#accounts, nick);
    const row = findAgentRow(this.#roster, account);
    const columns = rateColumns(rate);
    const { messages_per_second: perSecond, burst } = columns;
    if (row.messages_per_second === perSecond && row.burst === burst) return;
    const data = { nick: account.name, ...columns };
    const event = newEvent("agent.rate_changed", data, originOf(caller), this.#clock());
    await this.#commit(account, columns, event);
  }

  /**
   * Sets an agent's own limits of slots. What it has above a limit stays.
   *
   * @throws NotFound, or Conflict if the agent is revoked
   */
  async setSlots(nick: string, limits: SlotLimits, caller: Caller): Promise<void> {
    const account = findActiveAgent(this.#accounts, nick);
    const row = findAgentRow(this.#roster, account);
    const isNone = Object.values(limits).every((limit) => limit === null);
    const slots = isNone ? null : JSON.stringify(limits);
    if (row.slots === slots) return;
    const data = { nick: account.name, ...limits };
    const event = newEvent("agent.slots_changed", data, originOf(caller), this.#clock());
    await this.#commit(account, { slots }, event);
  }

  async #commit(account: Account, columns: Partial<HeldColumns>, event: NewEvent): Promise<void> {
    await commitOn(this.#database, account.name, {
      statements: [this.#accounts.guard(account), this.#roster.holding(account.id, columns)],
      events: [event],
    });
  }
}
