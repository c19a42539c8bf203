import type { Provisioned, Provisioning, WriteChange } from "../agents/mod.ts";
import type { Database } from "../database/mod.ts";
import { Conflict, NotFound, Unavailable } from "../errors.ts";
import { type AccountDirectory, newSecret } from "../identity/mod.ts";
import type { AccountSync } from "./account_sync.ts";
import { BLANK, type Ledger, type LedgerEntry } from "./ledger.ts";
import { belongsElsewhere, isForeign } from "./marks.ts";
import type { NameLocks } from "./name_locks.ts";
import type { NetworkAccount, NetworkAccounts } from "./network.ts";
import type { NetworkPassphrases } from "./passphrases.ts";
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
 * What is about to change is noted in the ledger first, then the network is asked, then the change
 * and the settled entry are written in one transaction. Wherever this is cut off, the entry stays
 * unsettled, and the network is brought back to what the database says. Changes of one account come
 * one after the other.
 */
export class NetworkProvisioning implements Provisioning {
  readonly #options: NetworkProvisioningOptions;

  constructor(options: NetworkProvisioningOptions) {
    this.#options = options;
  }

  register(account: Provisioned, password: string | null, write: WriteChange): Promise<string> {
    const { network, locks, passphrases } = this.#options;
    const { id, name } = account;
    return locks.hold(name, async () => {
      await this.#assertRights();
      await this.#settleFirst(name);
      const there = await network.find(name);
      if (there !== null) throw this.#isForeign(there) ? belongsElsewhere(name) : existsThere(name);
      const salt = newSecret();
      const begun = { ...BLANK, name, nextSalt: salt };
      return await this.#changing(begun, async () => {
        const passphrase = passphrases.derive(salt);
        await this.#make(begun, passphrase);
        if (password !== null) {
          await this.#note({ ...begun, made: true });
          await network.setPassphrase(name, password);
        }
        const made = { ...BLANK, name, accountId: id, made: true, marked: true };
        const told = password ?? passphrase;
        await this.#settled(
          { ...made, salt: password === null ? salt : null, channels: account.channels ?? [] },
          (statements) => write({ name, passphrase: told, statements }),
        );
        return told;
      });
    });
  }

  rotate({ id, name }: Provisioned, write: WriteChange): Promise<string> {
    const { network, ledger, locks, passphrases } = this.#options;
    return locks.hold(name, async () => {
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
      const begun = { ...before, nextSalt: salt };
      return await this.#changing(begun, async () => {
        const passphrase = passphrases.derive(salt);
        await network.setPassphrase(name, passphrase).catch(async (error: unknown) => {
          if (!(error instanceof NotFound)) throw error;
          await this.#make(before, passphrase);
        });
        const marked = before.marked || await network.mark(name, passphrase);
        const channels = entry?.channels ?? (await ledger.agent(id))?.channels ?? [];
        await this.#settled(
          { ...before, made: true, marked, salt, channels },
          (statements) => write({ name, passphrase, statements }),
        );
        return passphrase;
      });
    });
  }

  suspend({ id, name }: Provisioned, write: WriteChange): Promise<void> {
    const { network, ledger, locks } = this.#options;
    return locks.hold(name, async () => {
      await this.#assertRights();
      this.#assertOpen(id, name);
      const entry = await ledger.find(name);
      if (entry === null) return await write({ name, passphrase: "", statements: [] });
      if (await this.#belongsElsewhere(name)) return await this.#forget(entry, write);
      const begun = { ...entry, nextSalt: entry.nextSalt ?? entry.salt ?? newSecret() };
      await this.#changing(begun, async () => {
        await network.suspend(name, "Agent revoked").catch(ignoreMissing);
        await this.#settled(
          { ...entry, channels: (await ledger.agent(id))?.channels ?? [] },
          (statements) => write({ name, passphrase: "", statements }),
        );
      });
    });
  }

  remove({ id, name }: Provisioned, _reason: string, write: WriteChange): Promise<void> {
    const { network, ledger, locks } = this.#options;
    return locks.hold(name, async () => {
      await this.#assertRights();
      if (this.#options.accounts.find(name)?.id !== id) throw changedMeanwhile(name);
      const entry = await ledger.find(name);
      if (entry === null) return await write({ name, passphrase: "", statements: [] });
      if (await this.#belongsElsewhere(name)) return await this.#forget(entry, write);
      await this.#changing(entry, async () => {
        await network.remove(name);
        const channels = (await ledger.agent(id))?.channels ?? [];
        if (channels.length === 0) {
          const statements = [ledger.striking(entry)];
          return await write({ name, passphrase: "", statements });
        }
        await this.#settled(
          { ...entry, accountId: null, made: false, channels },
          (statements) => write({ name, passphrase: "", statements }),
        );
      });
    });
  }

  adopt(account: Provisioned, _known: boolean, write: WriteChange): Promise<void> {
    const { network, ledger, locks } = this.#options;
    return locks.hold(account.name, async () => {
      await this.#assertRights();
      await this.#settleFirst(account.name);
      const entry = await ledger.find(account.name);
      const there = await network.find(account.name);
      if (there === null) throw new NotFound(`There is no IRC account "${account.name}"`);
      if (this.#isForeign(there)) throw belongsElsewhere(there.account);
      if (there.suspended === true) throw suspendedThere(there.account);
      const name = entry?.name ?? there.account;
      const adopted = { ...(entry ?? BLANK), name, accountId: account.id, made: true };
      await this.#settled(
        { ...adopted, channels: account.channels ?? [] },
        (statements) => write({ name, passphrase: newSecret(), statements }),
      );
    });
  }

  #isForeign(there: NetworkAccount): boolean {
    return isForeign(there, this.#options.instance);
  }

  async #belongsElsewhere(name: string): Promise<boolean> {
    const there = await this.#options.network.find(name);
    return there !== null && this.#isForeign(there);
  }

  /** Ends an account here alone, as on the network it belongs to another muster. */
  async #forget(entry: LedgerEntry, write: WriteChange): Promise<void> {
    const statements = [this.#options.ledger.striking(entry)];
    await write({ name: entry.name, passphrase: "", statements });
  }

  /** Begins nothing that cannot be completed. */
  async #assertRights(): Promise<void> {
    const { rights, sync } = this.#options;
    try {
      await rights.assert();
    } catch (error) {
      sync.doubt();
      throw error;
    }
  }

  /** Makes sure that nobody has ended the account while its turn was waited for. */
  #assertOpen(id: string, name: string): void {
    const account = this.#options.accounts.find(name);
    if (account?.id !== id || account.revokedAt !== null) throw changedMeanwhile(name);
  }

  /** Makes an account on the network; where it is not to be had, nothing is left unsettled. */
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

  /** Notes that an account may change on the network, and changes it. */
  async #changing<T>(begun: LedgerEntry, change: () => Promise<T>): Promise<T> {
    await this.#note(begun);
    try {
      return await change();
    } catch (error) {
      this.#options.sync.wake();
      throw error;
    }
  }

  async #note(entry: LedgerEntry): Promise<void> {
    const { database, ledger, clock } = this.#options;
    const unsettled = { ...entry, unsettledSince: clock() };
    await database.commit({ statements: [ledger.saving(unsettled)] });
  }

  /** Writes a change together with its entry, which is settled but for the status in channels and the mark. */
  async #settled(
    entry: LedgerEntry,
    write: (statements: Parameters<WriteChange>[0]["statements"]) => Promise<void>,
  ): Promise<void> {
    const { ledger, sync, clock } = this.#options;
    const open = entry.channels.length > 0 || !entry.marked;
    const unsettledSince = open ? clock() : null;
    await write([ledger.saving({ ...entry, nextSalt: null, unsettledSince })]);
    if (open) sync.wake();
  }

  /** Ends what an earlier change left, so that it is known how the account is on the network. */
  async #settleFirst(name: string): Promise<void> {
    const entry = await this.#options.ledger.find(name);
    if (entry === null || entry.unsettledSince === null) return;
    await this.#options.repair.settle(entry);
  }
}

function existsThere(name: string): Conflict {
  return new Conflict(`The IRC network has an account "${name}", or does not give this name`);
}

function suspendedThere(name: string): Conflict {
  return new Conflict(`The IRC network has suspended the account "${name}"`);
}

function changedMeanwhile(name: string): Conflict {
  return new Conflict(`"${name}" was changed by somebody else at the same time`);
}

/** What cannot be settled, such as an account that is gone, may be what the change is to mend. */
function ignoreRefusal(error: unknown): void {
  if (!(error instanceof Conflict)) throw error;
}

function ignoreMissing(error: unknown): void {
  if (!(error instanceof NotFound)) throw error;
}
