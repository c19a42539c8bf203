import type { Database, NewEvent } from "../../engines/database/mod.ts";
import { Forbidden, Halted, TooMany } from "../../kernel/errors.ts";
import { newEvent } from "../../engines/events/mod.ts";
import { type Account, type AccountDirectory, type Caller, originOf } from "../identity/mod.ts";
import { TokenBucket } from "../../kernel/token_bucket.ts";
import type { Halts } from "./halts.ts";
import { type AgentRate, commitOn, findActiveAgent, findAgentRow } from "./records.ts";
import { type HeldColumns, rateColumns, type Roster, type SlotLimits } from "./roster.ts";
import type { Pause } from "./schemas.ts";

const MINUTE = 60_000;

/** The last minute is counted in spans of this length, in milliseconds. */
const SPAN = 5000;
const SPANS = MINUTE / SPAN;

/** Messages by the span in which they were sent; `span` is the number of the latest. */
interface Count {
  readonly spans: Uint32Array;
  span: number;
}

interface SendLimitsOptions {
  readonly roster: Roster;
  readonly halts: Pick<Halts, "reasonOf">;
  /** Unix milliseconds. */
  readonly clock: () => number;
  /** The rate of each person and each admin; null for no limit. */
  readonly accountRate: AgentRate | null;
}

/**
 * Counts and limits what agents say, on every protocol: refuses halted and paused agents with the reason, and
 * enforces an agent's own rate. Limits what people and admins say without an IRC client.
 */
export class SendLimits {
  readonly #roster: Roster;
  readonly #halts: SendLimitsOptions["halts"];
  readonly #clock: () => number;
  #accountRate: AgentRate | null;
  /** By the internal id of the account. */
  readonly #buckets = new Map<string, TokenBucket>();
  readonly #counts = new Map<string, Count>();

  constructor(options: SendLimitsOptions) {
    this.#roster = options.roster;
    this.#halts = options.halts;
    this.#clock = options.clock;
    this.#accountRate = options.accountRate;
  }

  /** Replaces the rate of people and admins. */
  reconfigure(accountRate: AgentRate | null): void {
    this.#accountRate = accountRate;
  }

  /** Why the account may send no messages at present; null if it may. */
  muteReason(account: string): string | null {
    const agent = this.#roster.find(account);
    return agent === null ? null : this.#halts.reasonOf(agent) ?? agent.muteReason;
  }

  /**
   * Counts a message against the account's own rate.
   *
   * @returns milliseconds until its turn; 0 if it may be sent at once
   */
  delay(account: string): number {
    const agent = this.#roster.find(account);
    if (agent === null || agent.rate === null) return 0;
    const now = this.#clock();
    const bucket = this.#bucketOf(agent.agentId, agent.rate, now);
    bucket.take(now);
    return bucket.delay(now, 0);
  }

  /** @throws Halted if the agent is halted, Forbidden if it is paused */
  requireVoice(id: string): void {
    const agent = this.#roster.get(id);
    if (agent === null) return;
    const reason = this.#halts.reasonOf(agent);
    if (reason !== null) throw new Halted(reason);
    if (agent.muteReason !== null) throw new Forbidden(agent.muteReason);
  }

  /** @throws Halted if the nick is a halted agent's: nobody speaks in its name either */
  requireGoing(nick: string): void {
    const agent = this.#roster.find(nick);
    const reason = agent === null ? null : this.#halts.reasonOf(agent);
    if (reason !== null) throw new Halted(reason);
  }

  /**
   * Counts a batch of messages against the agent's own rate.
   *
   * @param id the agent's internal id
   * @throws Halted, Forbidden if it is paused, TooMany if earlier ones are not paid for yet
   */
  admit(id: string, messages: number): void {
    this.requireVoice(id);
    const rate = this.#roster.get(id)?.rate ?? null;
    if (rate !== null) {
      this.#pay(id, rate, messages, "This agent sends more messages than its rate allows");
    }
  }

  /**
   * Counts lines of a person or an admin against the rate of such accounts.
   *
   * @param id the account's internal id
   * @throws TooMany if earlier ones are not paid for yet
   */
  admitPerson(id: string, lines: number): void {
    if (this.#accountRate === null) return;
    const refusal = "You write faster than an account may: wait a moment, then send it again";
    this.#pay(id, this.#accountRate, lines, refusal);
  }

  /** Counts a message of an account, if it is an agent's. */
  sent(account: string): void {
    const agent = this.#roster.find(account);
    if (agent === null) return;
    const span = this.#span();
    const count = this.#counts.get(agent.agentId) ?? { spans: new Uint32Array(SPANS), span };
    this.#counts.set(agent.agentId, count);
    advance(count, span);
    const place = span % SPANS;
    count.spans[place] = (count.spans[place] ?? 0) + 1;
  }

  /** The number of messages that the agent sent within the last minute, to five seconds. */
  perMinute(id: string): number {
    const count = this.#counts.get(id);
    if (count === undefined) return 0;
    advance(count, this.#span());
    return count.spans.reduce((sum, messages) => sum + messages, 0);
  }

  /** Every agent that sent messages within the last minute, and their number. */
  *rates(): Iterable<{ readonly nick: string; readonly perMinute: number }> {
    for (const id of this.#counts.keys()) {
      const perMinute = this.perMinute(id);
      const nick = this.#roster.get(id)?.nick;
      if (nick !== undefined && perMinute > 0) yield { nick, perMinute };
    }
  }

  /** Forgets an account that can no longer speak. */
  forget(id: string): void {
    this.#buckets.delete(id);
    this.#counts.delete(id);
  }

  /** @throws TooMany with the message if earlier ones are not paid for yet */
  #pay(id: string, rate: AgentRate, amount: number, message: string): void {
    const now = this.#clock();
    const bucket = this.#bucketOf(id, rate, now);
    const delay = bucket.delay(now);
    if (delay > 0) throw new TooMany(message, delay / 1000);
    bucket.take(now, amount);
  }

  #bucketOf(id: string, agentRate: AgentRate, now: number): TokenBucket {
    const rate = { perSecond: agentRate.messages_per_second, burst: agentRate.burst };
    const bucket = this.#buckets.get(id) ?? new TokenBucket(rate, now);
    this.#buckets.set(id, bucket);
    bucket.follow(rate, now);
    return bucket;
  }

  #span(): number {
    return Math.floor(this.#clock() / SPAN);
  }
}

/** Empties the spans that have passed since the latest. */
function advance(count: Count, span: number): void {
  const passed = Math.min(span - count.span, SPANS);
  for (let step = 1; step <= passed; step++) count.spans[(count.span + step) % SPANS] = 0;
  count.span = Math.max(count.span, span);
}

interface SpeechControlsOptions {
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
