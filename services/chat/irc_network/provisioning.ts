import type { AccountChange, Provisioned, Provisioning } from "../../people/agents/mod.ts";
import type { Database } from "../../engines/database/mod.ts";
import { Conflict, NotFound, Unavailable } from "../../kernel/errors.ts";
import { type AccountDirectory, newSecret } from "../../people/identity/mod.ts";
import type { AccountSync } from "./account_sync.ts";
import { BLANK, type Ledger, type LedgerEntry } from "./ledger.ts";
import type { NameLocks } from "./name_leases.ts";
import type { NetworkAccount, NetworkAccounts } from "./network.ts";
import { NetworkChange } from "./network_change.ts";
import { belongsElsewhere, isForeign, type NetworkPassphrases } from "./network_accounts.ts";
import type { Rights } from "./rights.ts";
import type { AccountRepair } from "./account_repair.ts";

export interface NetworkProvisioningOptions {
  readonly database: Pick<Database, "commit">;
  readonly accounts: Pick<AccountDirectory, "find">;
  readonly network: NetworkAccounts;
  readonly ledger: Ledger;
  readonly locks: NameLocks;
  readonly repair: AccountRepair;
  readonly rights: Rights;
  readonly sync: Pick<AccountSync, "wake" | "doubt">;
  readonly passphrases: NetworkPassphrases;
  /** The id of this instance of muster. */
  readonly instance: string;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/**
 * Provisioning on a network that has accounts of its own.
 *
 * The ledger records the coming change, then the network changes, then one transaction writes the
 * change and the settled entry. If this is interrupted, the entry stays unsettled, and the network
 * is made to agree with the database again.
 */
export class NetworkProvisioning implements Provisioning {
  readonly ownsPasswords = false;
  readonly #options: NetworkProvisioningOptions;

  constructor(options: NetworkProvisioningOptions) {
    this.#options = options;
  }

  async register(
    { id, name, channels = [] }: Provisioned,
    password: string | null,
  ): Promise<AccountChange> {
    const { network, passphrases } = this.#options;
    using cleanup = new DisposableStack();
    const change = cleanup.use(await NetworkChange.begin(name, this.#options));
    await this.#assertRights();
    await this.#settleFirst(name);
    const there = await network.find(name);
    if (there !== null) throw this.#isForeign(there) ? belongsElsewhere(name) : existsThere(name);
    const salt = newSecret();
    const begun = { ...BLANK, name, nextSalt: salt };
    await change.note(begun);
    const passphrase = passphrases.derive(salt);
    await this.#make(begun, passphrase);
    if (password !== null) {
      await change.note({ ...begun, made: true });
      await network.setPassphrase(name, password);
    }
    const made = { ...BLANK, name, accountId: id, made: true, marked: true, channels };
    change.save({ ...made, salt: password === null ? salt : null }, password ?? passphrase);
    cleanup.move();
    return change;
  }

  async rotate({ id, name }: Provisioned): Promise<AccountChange> {
    const { network, ledger, passphrases } = this.#options;
    using cleanup = new DisposableStack();
    const change = cleanup.use(await NetworkChange.begin(name, this.#options));
    await this.#assertRights();
    this.#assertOpen(id, name);
    await this.#settleFirst(name).catch(ignoreRefusal);
    const entry = await ledger.find(name);
    const there = await network.find(name);
    if (there !== null && this.#isForeign(there)) throw belongsElsewhere(name);
    if (entry === null && there !== null) throw existsThere(name);
    if (there?.suspended === true) throw suspendedThere(name);
    const salt = newSecret();
    const before = entry ?? { ...BLANK, name, accountId: id };
    await change.note({ ...before, nextSalt: salt });
    const passphrase = passphrases.derive(salt);
    await network.setPassphrase(name, passphrase).catch(async (error: unknown) => {
      if (!(error instanceof NotFound)) throw error;
      await this.#make(before, passphrase);
    });
    const marked = before.marked || await network.mark(name, passphrase);
    const channels = entry?.channels ?? (await ledger.agent(id))?.channels ?? [];
    change.save({ ...before, made: true, marked, salt, channels }, passphrase);
    cleanup.move();
    return change;
  }

  async suspend({ id, name }: Provisioned): Promise<AccountChange> {
    const { network, ledger } = this.#options;
    using cleanup = new DisposableStack();
    const change = cleanup.use(await NetworkChange.begin(name, this.#options));
    await this.#assertRights();
    this.#assertOpen(id, name);
    const entry = await ledger.find(name);
    if (entry !== null && await this.#belongsElsewhere(name)) {
      change.strike(entry);
    } else if (entry !== null) {
      await change.note({ ...entry, nextSalt: entry.nextSalt ?? entry.salt ?? newSecret() });
      await network.suspend(name, "Agent revoked").catch(ignoreMissing);
      change.save({ ...entry, channels: (await ledger.agent(id))?.channels ?? [] });
    }
    cleanup.move();
    return change;
  }

  async remove({ id, name }: Provisioned): Promise<AccountChange> {
    const { accounts, network, ledger } = this.#options;
    using cleanup = new DisposableStack();
    const change = cleanup.use(await NetworkChange.begin(name, this.#options));
    await this.#assertRights();
    if (accounts.find(name)?.id !== id) throw changedMeanwhile(name);
    const entry = await ledger.find(name);
    if (entry !== null && await this.#belongsElsewhere(name)) {
      change.strike(entry);
    } else if (entry !== null) {
      await change.note(entry);
      await network.remove(name);
      const channels = (await ledger.agent(id))?.channels ?? [];
      if (channels.length === 0) change.strike(entry);
      else change.save({ ...entry, accountId: null, made: false, channels });
    }
    cleanup.move();
    return change;
  }

  async adopt({ id, name, channels = [] }: Provisioned): Promise<AccountChange> {
    const { network, ledger } = this.#options;
    using cleanup = new DisposableStack();
    const change = cleanup.use(await NetworkChange.begin(name, this.#options));
    await this.#assertRights();
    await this.#settleFirst(name);
    const entry = await ledger.find(name);
    const there = await network.find(name);
    if (there === null) throw new NotFound(`There is no IRC account "${name}"`);
    if (this.#isForeign(there)) throw belongsElsewhere(there.account);
    if (there.suspended === true) throw suspendedThere(there.account);
    const adopted = entry ?? { ...BLANK, name: there.account };
    change.save({ ...adopted, accountId: id, made: true, channels }, newSecret());
    cleanup.move();
    return change;
  }

  #isForeign(there: NetworkAccount): boolean {
    return isForeign(there, this.#options.instance);
  }

  async #belongsElsewhere(name: string): Promise<boolean> {
    const there = await this.#options.network.find(name);
    return there !== null && this.#isForeign(there);
  }

  /** Refuses a change that cannot be completed. */
  async #assertRights(): Promise<void> {
    const { rights, sync } = this.#options;
    try {
      await rights.assert();
    } catch (error) {
      sync.doubt();
      throw error;
    }
  }

  /** Checks that the account has not ended during the wait. */
  #assertOpen(id: string, name: string): void {
    const account = this.#options.accounts.find(name);
    if (account?.id !== id || account.revokedAt !== null) throw changedMeanwhile(name);
  }

  /** Creates an account on the network; if that fails, nothing stays unsettled. */
  async #make(entry: LedgerEntry, passphrase: string): Promise<void> {
    const { database, network, ledger } = this.#options;
    const { name } = entry;
    try {
      if (await network.register(name, passphrase) === "exists") throw existsThere(name);
    } catch (error) {
      if (!(error instanceof Unavailable)) {
        const before = entry.made ? ledger.saving(entry) : ledger.striking(entry);
        await database.commit({ statements: [before] });
      }
      throw error;
    }
  }

  /** Settles an earlier change, so that the account's state on the network is known. */
  async #settleFirst(name: string): Promise<void> {
    const entry = await this.#options.ledger.find(name);
    if (entry === null || entry.unsettledSince === null) return;
    await this.#options.repair.settle(entry);
  }
}

function existsThere(name: string): Conflict {
  return new Conflict(`The IRC network has an account "${name}", or does not allow this name`);
}

function suspendedThere(name: string): Conflict {
  return new Conflict(`The IRC network has suspended the account "${name}"`);
}

function changedMeanwhile(name: string): Conflict {
  return new Conflict(`"${name}" was changed by somebody else at the same time`);
}

/** The change may repair what cannot be settled, such as a missing account. */
function ignoreRefusal(error: unknown): void {
  if (!(error instanceof Conflict)) throw error;
}

function ignoreMissing(error: unknown): void {
  if (!(error instanceof NotFound)) throw error;
}
