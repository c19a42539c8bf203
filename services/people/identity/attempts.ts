import type { Database } from "../../engines/database/mod.ts";
import { newEvent, type Origin, SYSTEM } from "../../engines/events/mod.ts";
import { addressNetwork } from "../../engines/irc/mod.ts";
import type { Log } from "../../kernel/log.ts";
import { Quota } from "../../kernel/quota.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";

interface AttemptQuotaOptions {
  /** Failures that are allowed within the window. */
  readonly failures: number;
  /** Milliseconds. */
  readonly window: number;
  /** Most keys remembered; the one that failed longest ago is dropped first. */
  readonly keys: number;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/** Whether an attempt may be made now. */
type AttemptCheck =
  | { readonly kind: "allowed" }
  | { readonly kind: "exhausted"; readonly retryAfterSeconds: number }
  /** Too many attempts are being checked at this moment. */
  | { readonly kind: "busy" };

/** Records the result of an attempt; call it once. */
type EndAttempt = (outcome: "failed" | "passed") => void;

/**
 * Bounds the failures of each key within a sliding window. Running attempts count as failures, so that
 * many concurrent attempts gain nothing.
 */
export class AttemptQuota {
  readonly #most: number;
  readonly #failed: Quota;
  /** What checks them bounds their number. */
  readonly #running = new Quota();

  constructor({ failures, window, keys, clock }: AttemptQuotaOptions) {
    this.#most = failures;
    this.#failed = new Quota({ period: window, maxKeys: keys, clock });
  }

  /** Whether an attempt is allowed; does not count it. */
  check(key: string): AttemptCheck {
    const failed = this.#failed.used(key);
    if (failed >= this.#most) {
      const wait = Math.max(1, Math.ceil(this.#failed.wait(key) / 1000));
      return { kind: "exhausted", retryAfterSeconds: wait };
    }
    return { kind: failed + this.#running.used(key) >= this.#most ? "busy" : "allowed" };
  }

  /** Counts an attempt that begins. */
  begin(key: string): EndAttempt {
    const running = this.#running.take(key);
    return (outcome) => {
      running[Symbol.dispose]();
      if (outcome === "failed") this.#failed.take(key);
    };
  }
}

/** How long refusals are counted before they are written, in milliseconds. */
const INTERVAL = 60_000;

/** Separate counts within an interval; further refusals are counted without an address. */
const MAX_COUNTS = 100;

/** Where a credential was presented. */
export type LoginMethod = "login" | "sasl" | "nickserv" | "oper" | "basic" | "bearer" | "sync";

/** Why it was refused. */
export type RefusalReason = "wrong password" | "invalid token" | "too many attempts";

/** A credential that was refused. */
export interface Refusal {
  readonly door: LoginMethod;
  readonly reason: RefusalReason;
  /** The client's IP address. */
  readonly address: string;
}

interface RefusalsOptions {
  readonly database: Database;
  readonly scheduler: Scheduler;
  readonly log: Log;
}

/** The number of refused credentials since the start, by door and reason. */
interface RefusalTotal {
  readonly door: LoginMethod;
  readonly reason: RefusalReason;
  readonly count: number;
}

interface Count {
  readonly door: LoginMethod;
  readonly reason: RefusalReason;
  /** Null for refusals without an address. */
  readonly place: string | null;
  /** When the first of them was refused, in Unix milliseconds. */
  readonly since: number;
  readonly count: number;
}

/**
 * Counts refused credentials and writes the counts to the event log once a minute, by address, door
 * and reason, so that a stranger cannot fill the log.
 */
export class Refusals {
  readonly #database: Database;
  readonly #scheduler: Scheduler;
  readonly #log: Log;
  #counts = new Map<string, Count>();
  readonly #totals = new Map<string, RefusalTotal>();
  #cancel: (() => void) | null = null;

  constructor(options: RefusalsOptions) {
    this.#database = options.database;
    this.#scheduler = options.scheduler;
    this.#log = options.log;
  }

  /** Counts a refusal. */
  note({ door, reason, address }: Refusal): void {
    const since = this.#scheduler.now();
    const total = this.#totals.get(`${door} ${reason}`)?.count ?? 0;
    this.#totals.set(`${door} ${reason}`, { door, reason, count: total + 1 });
    this.#add({ door, reason, place: placeOf(address), since, count: 1 });
    this.#cancel ??= this.#scheduler.after(INTERVAL, () => this.flush());
  }

  /** The counts since the start, for the metrics. */
  totals(): Iterable<RefusalTotal> {
    return this.#totals.values();
  }

  /** Writes the counts. If that fails, keeps them for the next time. */
  async flush(): Promise<void> {
    this.#cancel?.();
    this.#cancel = null;
    if (this.#counts.size === 0) return;
    const counts = [...this.#counts.values()];
    this.#counts = new Map();
    const now = this.#scheduler.now();
    try {
      await this.#database.commit({ events: counts.map((count) => eventOf(count, now)) });
    } catch (error) {
      this.#log.warn("Refused credentials could not be written to the event log", { error });
      for (const count of counts) this.#add(count);
    }
  }

  #add(added: Count): void {
    const key = keyOf(added);
    const known = this.#counts.get(key);
    if (known !== undefined) {
      const since = Math.min(known.since, added.since);
      this.#counts.set(key, { ...known, since, count: known.count + added.count });
    } else if (added.place === null || this.#counts.size < MAX_COUNTS) {
      this.#counts.set(key, added);
    } else {
      this.#add({ ...added, place: null });
    }
  }
}

function keyOf({ door, reason, place }: Count): string {
  return JSON.stringify([door, reason, place]);
}

function eventOf({ door, reason, place, since, count }: Count, now: number) {
  const origin: Origin = { ...SYSTEM, address: place };
  const data = { door, reason, count, since: new Date(since).toISOString() };
  return newEvent("access.refused", data, origin, now);
}

/** Longest address; a proxy may pass on anything as an address. */
const MAX_LENGTH = 64;

/**
 * The part of an address that counts as one source of attempts: an IPv4 address, or the first 64
 * bits of an IPv6 address, which one customer gets.
 */
export function placeOf(address: string): string {
  return addressNetwork(address).slice(0, MAX_LENGTH);
}
