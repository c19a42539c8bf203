import { ServiceError, Unavailable } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import { AccountComparison, type AccountComparisonOptions } from "./account_comparison.ts";
import type { AccountRepair } from "./account_repair.ts";
import type { Comparisons } from "./comparisons.ts";
import { type LedgerEntry, UNSETTLED_PAGE } from "./ledger.ts";
import type { Rights } from "./rights.ts";

const FIRST_RETRY_MILLISECONDS = 1000;
const LAST_RETRY_MILLISECONDS = 60_000;

/** How often both sides are compared without another reason. */
const COMPARISON_MILLISECONDS = 10 * 60_000;

/** The pause between two pages of unsettled entries: the network serves others meanwhile. */
const PAGE_PAUSE_MILLISECONDS = 1000;

/** How long the change of another node is left alone. */
const NOTICE_MILLISECONDS = 2000;

export interface AccountSyncOptions extends AccountComparisonOptions {
  /** The network's address, which identifies it. */
  readonly address: string;
  readonly repair: AccountRepair;
  readonly rights: Rights;
  /** Whether this node compares and repairs; one of several nodes does. */
  readonly isLeading: () => boolean;
  /** What nodes know of each other's comparisons; null on a server that is alone. */
  readonly comparisons: Comparisons | null;
  readonly scheduler: Scheduler;
  /** A number from 0 to 1, for jitter. */
  readonly random: () => number;
  readonly log: Log;
}

/** Counters since the start, and the current state. */
export interface NetworkStats {
  /** Accounts that may differ on the network. */
  readonly unsettled: number;
  readonly repaired: number;
  /** Whether the network answered the last time. */
  readonly reachable: boolean;
}

/**
 * Keeps the accounts on the network in step with the database. Unsettled entries are settled one
 * after the other, in pages with a pause between them, and tried again after a delay that doubles
 * with each failure of the network and is shortened at random by up to a half. Both sides are
 * compared at the start, whenever the network is back, and every ten minutes.
 *
 * Of several nodes, the leader does that; the others only see whether they could change accounts, and
 * note when the network was away. The next leader settles what is unsettled, and compares when the
 * earlier one would have.
 *
 * Accounts that muster did not create or adopt are never changed.
 */
export class AccountSync {
  readonly #options: AccountSyncOptions;
  readonly #comparison: AccountComparison;
  #cancelTimer: () => void = () => {};
  #running: Promise<void> | null = null;
  /** What the start looks up for its warning. */
  #warned: Promise<void> = Promise.resolve();
  /** When our rights were checked, in Unix milliseconds. */
  #checkedAt = -Infinity;
  /**
   * When both sides were compared, in Unix milliseconds. -Infinity if the network may have been away
   * since; a node that does not lead has to note that.
   */
  #comparedAt = -Infinity;
  /** Whether this node has begun to lead, and knows how the earlier leader left off. */
  #isLeader: boolean;
  /** Whether it begins to lead. */
  #takesOver = false;
  /** Whether the bridge has been on the network since the start. */
  #wasOnNetwork = false;
  #again = false;
  #hasNoticed = false;
  #failures = 0;
  /** The last unsettled entry that was tried, if others wait behind it. */
  #settledUpTo: LedgerEntry | null = null;
  /** Whether all pending work was done once, or a page of it. */
  #hasSettled = false;
  /** Whether the network answered the last time; null before the first time. */
  #answered: boolean | null = null;
  /** Why it did not answer, or "". */
  #reason = "";
  #closed = false;

  constructor(options: AccountSyncOptions) {
    this.#options = options;
    this.#comparison = new AccountComparison(options);
    this.#isLeader = options.comparisons === null;
  }

  /** Starts with a comparison; of several nodes, the leader starts with {@linkcode takeOver}. */
  start(): void {
    this.#warned = this.#warnOfStrangers().catch((error: unknown) => {
      this.#options.log.error("The accounts of the IRC network cannot be read", { error });
    });
    this.compare();
  }

  async #warnOfStrangers(): Promise<void> {
    const agents = await this.#options.ledger.strangers();
    if (agents === 0) return;
    this.#options.log.warn(
      "Agents have no account on the IRC network yet; `muster agent rotate` makes it",
      { agents },
    );
  }

  /** Compares both sides as soon as possible. */
  compare(): void {
    this.#distrust();
    this.#failures = 0;
    this.#soon();
  }

  /** The bridge is on the network, which may have been away before. */
  returned(): void {
    const isFirst = !this.#wasOnNetwork;
    this.#wasOnNetwork = true;
    if (this.#options.comparisons === null || !isFirst) return this.compare();
    // The others know what happened before this node started.
    this.#checkedAt = -Infinity;
    this.#failures = 0;
    this.#soon();
  }

  /** Continues where the earlier leader left off. */
  takeOver(): void {
    this.#takesOver = true;
    this.#checkedAt = -Infinity;
    this.#failures = 0;
    this.#soon();
  }

  /** Leaves comparisons to another node. */
  resign(): void {
    this.#takesOver = this.#isLeader = false;
    this.#settledUpTo = null;
  }

  /** Settles unsettled entries soon, or, if the network is away, at the next attempt. */
  wake(): void {
    if (this.#failures === 0) this.#soon();
  }

  /** Settles what another node has left unsettled, once its change must be over. */
  noticed(): void {
    const { isLeading, ledger } = this.#options;
    if (!isLeading() || this.#hasNoticed || ledger.unsettledCount === 0) return;
    if (this.#failures > 0) return;
    this.#hasNoticed = true;
    this.#options.scheduler.after(NOTICE_MILLISECONDS, () => {
      this.#hasNoticed = false;
      if (!this.#closed) this.wake();
    });
  }

  /** Checks soon whether a network that was reachable still is, and grants our rights. */
  doubt(): void {
    if (this.#failures > 0) return;
    this.#distrust();
    this.#soon();
  }

  /** Whether the network answered the last time. */
  get reachable(): boolean {
    return this.#answered === true;
  }

  /** Why muster cannot change accounts or statuses there, as a text; null if it can. */
  get trouble(): string | null {
    if (!this.reachable) return this.#reason === "" ? "not reached yet" : this.#reason;
    const { missing } = this.#options.rights;
    return missing.length === 0 ? null : `muster lacks rights there: ${missing.join(", ")}`;
  }

  stats(): NetworkStats {
    return {
      unsettled: this.#options.ledger.unsettledCount,
      repaired: this.#options.repair.repaired,
      reachable: this.reachable,
    };
  }

  /** Resolves when nothing is running. */
  async whenIdle(): Promise<void> {
    await this.#warned;
    await this.#running;
  }

  /** Starts nothing more, and resolves when running work is done. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelTimer();
    await this.whenIdle();
  }

  #distrust(): void {
    this.#checkedAt = this.#comparedAt = -Infinity;
  }

  #soon(): void {
    if (this.#running !== null) this.#again = true;
    else this.#schedule(0);
  }

  #schedule(milliseconds: number): void {
    this.#cancelTimer();
    if (this.#closed) return;
    this.#cancelTimer = this.#options.scheduler.after(milliseconds, () => this.#start());
  }

  #start(): void {
    this.#again = false;
    this.#running = this.#run().then((delay) => {
      this.#running = null;
      this.#schedule(this.#again ? 0 : delay);
    });
  }

  /** Does the pending work, and resolves to the delay until the next time; never rejects. */
  async #run(): Promise<number> {
    const { scheduler, rights } = this.#options;
    const now = scheduler.now();
    const isCheckDue = now - this.#checkedAt >= COMPARISON_MILLISECONDS;
    try {
      if (isCheckDue) {
        this.#checkedAt = now;
        await rights.check();
        if (this.#hasSettled) this.#answers();
      }
      if (this.#takesOver) await this.#continue();
      if (!this.#leads) await this.#noteDoubts(now);
      else {
        if (isCheckDue) await this.#arrive(now);
        if (now - this.#comparedAt >= COMPARISON_MILLISECONDS) await this.#compareNow();
        await this.#settlePage();
      }
    } catch (error) {
      return await this.#failed(error);
    }
    this.#hasSettled = true;
    this.#answers();
    this.#failures = 0;
    if (this.#leads && this.#settledUpTo !== null) return PAGE_PAUSE_MILLISECONDS;
    const last = this.#leads ? Math.min(this.#checkedAt, this.#comparedAt) : this.#checkedAt;
    const delay = last + COMPARISON_MILLISECONDS - scheduler.now();
    return Math.min(Math.max(0, delay), COMPARISON_MILLISECONDS);
  }

  get #leads(): boolean {
    return this.#isLeader && this.#options.isLeading();
  }

  /** Finds out when an earlier leader compared, unless this node knows that the network was away. */
  async #continue(): Promise<void> {
    const hasDoubts = this.#hasSettled && this.#comparedAt === -Infinity;
    const last = hasDoubts ? null : await this.#options.comparisons?.last();
    if (!this.#takesOver) return;
    this.#comparedAt = last ?? -Infinity;
    // From now on, both come at the same time.
    this.#checkedAt = last ?? this.#checkedAt;
    this.#takesOver = false;
    this.#isLeader = true;
  }

  /** On a node that does not lead: notes for the next leader that the network was away. */
  async #noteDoubts(now: number): Promise<void> {
    if (this.#comparedAt !== -Infinity) return;
    this.#comparedAt = now;
    // The others know what happened before this node started.
    if (this.#hasSettled) await this.#options.comparisons?.doubt();
  }

  /** Compares both sides, and notes that. */
  async #compareNow(): Promise<void> {
    const { comparisons, scheduler } = this.#options;
    const thorough = this.#comparedAt === -Infinity;
    this.#comparedAt = scheduler.now();
    const finish = await comparisons?.begin();
    const isOver = await this.#comparison.run(thorough, () => !this.#closed && this.#leads);
    // It is in doubt again already.
    if (this.#comparedAt === -Infinity) return;
    // It can take minutes.
    this.#comparedAt = scheduler.now();
    if (isOver) await finish?.();
  }

  /**
   * Records that the network is there. The first time, both sides must be equal by then; later, it
   * says so before it compares all accounts, which can take minutes.
   */
  #answers(): void {
    const { log } = this.#options;
    if (this.#answered !== true) log.info("The accounts of the IRC network can be reached");
    this.#answered = true;
    this.#reason = "";
  }

  /** Records that the network is away, and returns the delay until the next attempt. */
  async #failed(error: unknown): Promise<number> {
    const { random, log, comparisons } = this.#options;
    const known = error instanceof ServiceError;
    const reason = known ? error.message : "an error that the log tells";
    if (!this.#closed && (this.#answered !== false || reason !== this.#reason)) {
      const details = known ? { reason } : { error };
      log.warn("The accounts of the IRC network cannot be reached", details);
    }
    this.#again = false;
    this.#answered = false;
    this.#reason = reason;
    this.#distrust();
    // If this node ends before the network is back, the next leader knows.
    if (this.#leads && this.#failures === 0) await comparisons?.doubt().catch(() => {});
    const longest = FIRST_RETRY_MILLISECONDS * 2 ** Math.min(this.#failures++, 16);
    return Math.min(longest, LAST_RETRY_MILLISECONDS) * (1 - random() / 2);
  }

  /**
   * Settles a page of accounts, one after the other. One failure does not stop the rest; two do.
   * What the network refuses is tried again with the first page of the next time.
   */
  async #settlePage(): Promise<void> {
    const { ledger, locks, log } = this.#options;
    const page = await ledger.unsettled(this.#settledUpTo);
    this.#settledUpTo = null;
    const failures: unknown[] = [];
    for (const { name } of page) {
      if (this.#closed || failures.length > 1) break;
      try {
        using _lock = await locks.acquire(name);
        await this.#settle(name);
      } catch (error) {
        if (!(error instanceof ServiceError) || error instanceof Unavailable) {
          failures.push(error);
          continue;
        }
        log.warn("An account on the IRC network differs from the registry", {
          account: name,
          reason: error.message,
        });
      }
    }
    if (failures.length > 0) throw failures[0];
    if (page.length === UNSETTLED_PAGE) this.#settledUpTo = page.at(-1) ?? null;
  }

  async #settle(name: string): Promise<void> {
    const entry = await this.#options.ledger.find(name);
    if (entry === null || entry.unsettledSince === null) return;
    await this.#options.repair.settle(entry);
  }

  /** Records which network this is. */
  async #arrive(now: number): Promise<void> {
    const { database, ledger, address } = this.#options;
    const statements = await ledger.moving(address, now);
    if (statements.length > 0) await database.commit({ statements });
  }
}
