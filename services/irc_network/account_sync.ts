import type { Database } from "../database/mod.ts";
import { ServiceError, Unavailable } from "../errors.ts";
import type { AccountDirectory } from "../identity/mod.ts";
import { foldCase } from "../irc/mod.ts";
import type { Log } from "../log.ts";
import type { Scheduler } from "../scheduler.ts";
import type { Ledger, LedgerEntry } from "./ledger.ts";
import type { NameLocks } from "./name_locks.ts";
import type { NetworkAccount, NetworkAccounts } from "./network.ts";
import type { NetworkPassphrases } from "./passphrases.ts";
import type { Rights } from "./rights.ts";
import type { AccountRepair } from "./account_repair.ts";

const FIRST_RETRY_MILLISECONDS = 1000;
const LAST_RETRY_MILLISECONDS = 60_000;

/** How often both sides are compared without another reason. */
const COMPARISON_MILLISECONDS = 10 * 60_000;

/** How long the change of another node is left alone. */
const NOTICE_MILLISECONDS = 2000;

/** Entries compared at a time. */
const PAGE = 500;

export interface AccountSyncOptions {
  readonly database: Pick<Database, "commit">;
  readonly accounts: Pick<AccountDirectory, "find">;
  readonly network: NetworkAccounts;
  /** The network's address, which identifies it. */
  readonly address: string;
  readonly ledger: Ledger;
  readonly locks: NameLocks;
  readonly repair: AccountRepair;
  readonly rights: Rights;
  /** Whether this node compares and repairs; one of several nodes does. */
  readonly isLeading: () => boolean;
  readonly passphrases: NetworkPassphrases;
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
 * Keeps the accounts on the network in step with the database. Unsettled entries are tried again
 * after a delay that doubles with each failure of the network and is shortened at random by up to a
 * half. Both sides are compared at the start, whenever the network is back, and every ten minutes.
 * Of several nodes, the leader does that; the others only see whether they could change accounts.
 * Accounts that muster did not create or adopt are never changed.
 */
export class AccountSync {
  readonly #options: AccountSyncOptions;
  #cancelTimer: () => void = () => {};
  #running: Promise<void> | null = null;
  /** When both sides were compared, in Unix milliseconds. */
  #comparedAt = -Infinity;
  #again = false;
  #hasNoticed = false;
  #failures = 0;
  /** Whether all pending work was done once. */
  #hasSettled = false;
  /** Whether the network answered the last time; null before the first time. */
  #answered: boolean | null = null;
  /** Why it did not answer, or "". */
  #reason = "";
  #closed = false;

  constructor(options: AccountSyncOptions) {
    this.#options = options;
  }

  /** Starts with a comparison. */
  start(): void {
    this.#warnOfStrangers().catch((error: unknown) => {
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
    this.#comparedAt = -Infinity;
    this.#failures = 0;
    this.#soon();
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
    this.#comparedAt = -Infinity;
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
    await this.#running;
  }

  /** Starts nothing more, and resolves when running work is done. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelTimer();
    await this.#running;
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
    const now = this.#options.scheduler.now();
    try {
      if (now - this.#comparedAt >= COMPARISON_MILLISECONDS) {
        const thorough = this.#comparedAt === -Infinity;
        this.#comparedAt = now;
        await this.#options.rights.check();
        if (this.#hasSettled) this.#answers();
        if (this.#options.isLeading()) {
          await this.#arrive(now);
          await this.#compareAll(thorough);
        }
      }
      if (this.#options.isLeading()) await this.#settleAll();
    } catch (error) {
      return this.#failed(error);
    }
    this.#hasSettled = true;
    this.#answers();
    this.#failures = 0;
    return COMPARISON_MILLISECONDS;
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
  #failed(error: unknown): number {
    const { random, log } = this.#options;
    const known = error instanceof ServiceError;
    const reason = known ? error.message : "an error that the log tells";
    if (!this.#closed && (this.#answered !== false || reason !== this.#reason)) {
      const details = known ? { reason } : { error };
      log.warn("The accounts of the IRC network cannot be reached", details);
    }
    this.#again = false;
    this.#answered = false;
    this.#reason = reason;
    this.#comparedAt = -Infinity;
    const longest = FIRST_RETRY_MILLISECONDS * 2 ** Math.min(this.#failures++, 16);
    return Math.min(longest, LAST_RETRY_MILLISECONDS) * (1 - random() / 2);
  }

  /** Settles accounts in turn. One failure does not stop the rest; two in a row do. */
  async #settleAll(): Promise<void> {
    const { ledger, locks, log } = this.#options;
    const failures: unknown[] = [];
    for (const { name } of await ledger.unsettled()) {
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

  /**
   * Records every difference between the network and the database.
   *
   * @param thorough whether to compare passphrases too, if that is cheap
   */
  async #compareAll(thorough: boolean): Promise<void> {
    const { network, ledger } = this.#options;
    const list = await network.list();
    const there = list === null
      ? null
      : new Map(list.map((account) => [foldCase(account.account), account]));
    let after = "";
    while (!this.#closed) {
      const page = await ledger.belonging(after, PAGE);
      for (const entry of page) {
        const found = there === null
          ? await network.find(entry.name)
          : there.get(foldCase(entry.name)) ?? null;
        const locked = thorough && !await this.#opens(entry, found);
        const unmarked = thorough && !entry.marked && found !== null;
        if (locked || unmarked || entry.channels.length > 0 || this.#differs(entry, found)) {
          await this.#unsettle(entry, locked);
        }
      }
      if (page.length < PAGE) return;
      after = page.at(-1)?.name ?? "";
    }
  }

  /** A suspension by an operator of the network of an account that is active here is not undone. */
  #differs({ name, accountId }: LedgerEntry, there: NetworkAccount | null): boolean {
    const account = this.#options.accounts.find(name);
    if (account === null || account.id !== accountId) return there !== null;
    if (account.revokedAt === null) return there === null;
    return there !== null && there.suspended !== true;
  }

  /** Whether an agent can log in to the network with its passphrase. */
  async #opens({ name, salt }: LedgerEntry, there: NetworkAccount | null): Promise<boolean> {
    const { accounts, network, passphrases } = this.#options;
    if (!network.verifiesCheaply || there?.suspended !== false) return true;
    const account = accounts.find(name);
    const passphrase = account === null ? null : passphrases.of(salt, account);
    return passphrase === null || await network.verify(name, passphrase);
  }

  /** @param passphrase whether the passphrase there differs */
  async #unsettle({ name }: LedgerEntry, passphrase: boolean): Promise<void> {
    const { database, ledger, locks, scheduler } = this.#options;
    using _lock = await locks.acquire(name);
    const entry = await ledger.find(name);
    if (entry === null || entry.unsettledSince !== null) return;
    const nextSalt = passphrase ? entry.salt : entry.nextSalt;
    const unsettled = { ...entry, nextSalt, unsettledSince: scheduler.now() };
    await database.commit({ statements: [ledger.saving(unsettled)] });
  }
}
