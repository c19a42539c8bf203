import { channelStatusOf } from "../../people/agents/mod.ts";
import type { Database, Statement } from "../../engines/database/mod.ts";
import { Conflict } from "../../kernel/errors.ts";
import { newEvent, SYSTEM } from "../../engines/events/mod.ts";
import { type Account, type AccountDirectory, sha256 } from "../../people/identity/mod.ts";
import { foldCase } from "../../engines/irc/mod.ts";
import { BoundedMap } from "../../kernel/bounded_map.ts";
import type { Ledger, LedgerEntry } from "./ledger.ts";
import type { NetworkAccount, NetworkAccounts, NetworkStatus } from "./network.ts";
import { belongsElsewhere, isForeign, type NetworkPassphrases } from "./network_accounts.ts";

/** How long a channel is assumed to be still unregistered. */
const UNREGISTERED_MILLISECONDS = 60_000;

/** Most channels remembered as unregistered. */
const MAX_REMEMBERED = 10_000;

/** The repair of an account on the network. */
export type Repair =
  | "made again"
  | "suspended"
  | "unsuspended"
  | "removed"
  | "passphrase restored"
  | "passphrase taken over";

/** How an account was settled. */
interface Settled {
  /** Its new entry; null if none is needed. */
  readonly entry: LedgerEntry | null;
  readonly repairs: readonly Repair[];
  /** Statements to run beside the entry's. */
  readonly statements?: readonly Statement[];
}

export interface AccountRepairOptions {
  readonly database: Database;
  readonly accounts: Pick<AccountDirectory, "find" | "newSecret">;
  readonly ledger: Ledger;
  readonly network: NetworkAccounts;
  readonly passphrases: NetworkPassphrases;
  /** The id of this instance of muster. */
  readonly instance: string;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/** Makes accounts on the network agree with the database. */
export class AccountRepair {
  readonly #options: AccountRepairOptions;
  /** When channels were last found to be unregistered, in Unix milliseconds. */
  readonly #unregistered = new BoundedMap<string, number>(MAX_REMEMBERED);
  #repaired = 0;

  constructor(options: AccountRepairOptions) {
    this.#options = options;
  }

  /** The number of repairs since the start. */
  get repaired(): number {
    return this.#repaired;
  }

  /**
   * Reads the state of an account on the network, repairs it, and records the result.
   *
   * @throws Unavailable if the network is away, Conflict if it refuses
   */
  async settle(entry: LedgerEntry): Promise<void> {
    const { database, accounts, ledger, clock } = this.#options;
    const found = accounts.find(entry.name);
    const account = found?.id === entry.accountId ? found : null;
    const settled = await this.#settled(entry, account);
    const channels = await this.#setStatuses(entry, account);
    const { entry: after, repairs, statements = [] } = settled;
    await database.commit({
      statements: [
        ...statements,
        after === null
          ? ledger.striking(entry)
          : ledger.saving({ ...after, nextSalt: null, unsettledSince: null, channels }),
      ],
      events: repairs.map((repair) =>
        newEvent("network.account_repaired", { account: entry.name, repair }, SYSTEM, clock())
      ),
    });
    this.#repaired += repairs.length;
  }

  async #settled(entry: LedgerEntry, account: Account | null): Promise<Settled> {
    const there = await this.#options.network.find(entry.name);
    const foreign = there !== null && isForeign(there, this.#options.instance);
    if (account !== null && account.revokedAt === null) {
      if (foreign) throw belongsElsewhere(entry.name);
      const settled = await this.#settleActive(entry, account, there);
      if (settled.entry === null) return settled;
      return { ...settled, entry: await this.#marked(settled.entry) };
    }
    if (foreign) return { entry: null, repairs: [] };
    return account === null
      ? await this.#settleAbsent(entry, there)
      : await this.#settleSuspended(entry, there);
  }

  /** Marks an account that is ours but has no mark yet. */
  async #marked(entry: LedgerEntry): Promise<LedgerEntry> {
    const { network, passphrases } = this.#options;
    if (entry.marked) return entry;
    const passphrase = entry.salt === null ? null : passphrases.derive(entry.salt);
    return { ...entry, marked: await network.mark(entry.name, passphrase) };
  }

  /** There is no such account here: removes the one that muster created on the network. */
  async #settleAbsent(entry: LedgerEntry, there: NetworkAccount | null): Promise<Settled> {
    const { network } = this.#options;
    if (there === null) return { entry: null, repairs: [] };
    const certain = entry.made && (there.suspended === true || entry.salt === null);
    if (!certain && !await this.#isOurs(entry)) return { entry: null, repairs: [] };
    await network.remove(entry.name);
    return { entry: null, repairs: ["removed"] };
  }

  async #settleSuspended(entry: LedgerEntry, there: NetworkAccount | null): Promise<Settled> {
    const { network } = this.#options;
    if (there === null || there.suspended === true) return { entry, repairs: [] };
    if (!await this.#mayTouch(entry)) return { entry: null, repairs: [] };
    await network.suspend(entry.name, "Agent revoked");
    const repairs: Repair[] = there.suspended === false ? ["suspended"] : [];
    return { entry: { ...entry, made: true }, repairs };
  }

  async #settleActive(
    entry: LedgerEntry,
    account: Account,
    there: NetworkAccount | null,
  ): Promise<Settled> {
    const { network } = this.#options;
    const passphrase = this.#options.passphrases.of(entry.salt, account);
    if (there === null) return await this.#makeAgain(entry, passphrase);
    if (!await this.#mayTouch(entry)) return { entry: null, repairs: [] };
    if (entry.nextSalt === null) return { entry: { ...entry, made: true }, repairs: [] };
    const repairs: Repair[] = [];
    if (there.suspended !== false) {
      await network.unsuspend(entry.name);
      if (there.suspended === true) repairs.push("unsuspended");
    }
    if (passphrase === null) return await this.#takeOver(entry, account, repairs);
    if (!await network.verify(entry.name, passphrase)) {
      await network.setPassphrase(entry.name, passphrase);
      repairs.push("passphrase restored");
    }
    return { entry: { ...entry, made: true }, repairs };
  }

  /** Recreates an account that the network has lost, with the passphrase that its agent knows. */
  async #makeAgain(entry: LedgerEntry, passphrase: string | null): Promise<Settled> {
    const { name, salt, made } = entry;
    if (passphrase === null) {
      if (salt === null && !made) return { entry: null, repairs: [] };
      throw new Conflict(`The IRC network no longer has the account "${name}": rotate the agent`);
    }
    if (await this.#options.network.register(name, passphrase) === "exists") {
      throw new Conflict(`The IRC network no longer allows the name "${name}"`);
    }
    return { entry: { ...entry, made: true, marked: true }, repairs: ["made again"] };
  }

  /**
   * Only the owner knows the old password. If the network already has the new passphrase, that one
   * applies here too, although nobody has received it.
   */
  async #takeOver(entry: LedgerEntry, account: Account, repairs: Repair[]): Promise<Settled> {
    const { accounts, network, passphrases } = this.#options;
    const passphrase = passphrases.derive(entry.nextSalt ?? "");
    if (!await network.verify(entry.name, passphrase)) return { entry, repairs };
    const secret = { scheme: "sha256", value: sha256(passphrase) } as const;
    return {
      entry: { ...entry, made: true, salt: entry.nextSalt },
      repairs: [...repairs, "passphrase taken over"],
      statements: [accounts.newSecret(account, secret, false)],
    };
  }

  /**
   * Whether an account there is the recorded one. For an adopted, unchanged account, only its owner
   * knows the password, so it is assumed to be.
   */
  async #mayTouch(entry: LedgerEntry): Promise<boolean> {
    const { made, salt, nextSalt } = entry;
    return made || (salt === null && nextSalt === null) || await this.#isOurs(entry);
  }

  /** Whether an account on the network has a passphrase that only muster can have set. */
  async #isOurs({ name, salt, nextSalt }: LedgerEntry): Promise<boolean> {
    const { network, passphrases } = this.#options;
    for (const known of [nextSalt, salt]) {
      if (known !== null && await network.verify(name, passphrases.derive(known))) return true;
    }
    return false;
  }

  /** Sets the statuses; returns the channels that cannot store one yet. */
  async #setStatuses(entry: LedgerEntry, account: Account | null): Promise<string[]> {
    const left: string[] = [];
    for (const channel of entry.channels) {
      const status = await this.#statusIn(channel, account);
      const kept = await this.#setStatus(channel, entry.name, status);
      if (!kept && status !== null) left.push(channel);
    }
    return left;
  }

  /** Skips channels that were unregistered a moment ago. */
  async #setStatus(
    channel: string,
    account: string,
    status: NetworkStatus | null,
  ): Promise<boolean> {
    const { network, clock } = this.#options;
    const key = foldCase(channel);
    const now = clock();
    if (now - (this.#unregistered.get(key) ?? -Infinity) < UNREGISTERED_MILLISECONDS) return false;
    this.#unregistered.delete(key);
    const kept = await network.setChannelStatus(channel, account, status);
    if (!kept) {
      this.#unregistered.set(key, now);
    }
    return kept;
  }

  async #statusIn(channel: string, account: Account | null): Promise<NetworkStatus | null> {
    if (account === null || account.revokedAt !== null) return null;
    const agent = await this.#options.ledger.agent(account.id);
    if (agent === null || !agent.channels.some((name) => foldCase(name) === foldCase(channel))) {
      return null;
    }
    const status = channelStatusOf(agent.type);
    return status === "none" ? null : status;
  }
}
