import type { Database } from "../../engines/database/mod.ts";
import type { AccountDirectory } from "../../people/identity/mod.ts";
import { foldCase } from "../../engines/irc/mod.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import type { Ledger, LedgerEntry } from "./ledger.ts";
import type { NameLocks } from "./name_leases.ts";
import type { NetworkAccount, NetworkAccounts } from "./network.ts";
import type { NetworkPassphrases } from "./network_accounts.ts";

/** Entries compared at a time. */
const PAGE = 500;

export interface AccountComparisonOptions {
  readonly database: Pick<Database, "commit">;
  readonly accounts: Pick<AccountDirectory, "find">;
  readonly network: NetworkAccounts;
  readonly ledger: Ledger;
  readonly locks: NameLocks;
  readonly passphrases: NetworkPassphrases;
  readonly scheduler: Pick<Scheduler, "now">;
}

/** Finds accounts that differ between the network and the database. */
export class AccountComparison {
  readonly #options: AccountComparisonOptions;

  constructor(options: AccountComparisonOptions) {
    this.#options = options;
  }

  /**
   * Records every difference between the network and the database.
   *
   * @param thorough whether to compare passphrases too, if that is cheap
   * @param goesOn whether it shall go on
   * @returns whether it came to the end
   */
  async run(thorough: boolean, goesOn: () => boolean): Promise<boolean> {
    const { network, ledger } = this.#options;
    const list = await network.list();
    const there = list === null
      ? null
      : new Map(list.map((account) => [foldCase(account.account), account]));
    let after = "";
    while (goesOn()) {
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
      if (page.length < PAGE) return true;
      after = page.at(-1)?.name ?? "";
    }
    return false;
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
