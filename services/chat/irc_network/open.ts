import type { Database } from "../../engines/database/mod.ts";
import type { AccountDirectory } from "../../people/identity/mod.ts";
import type { Log } from "../../kernel/log.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import { AccountSync } from "./account_sync.ts";
import { Comparisons } from "./comparisons.ts";
import { instanceIn, Ledger } from "./ledger.ts";
import { NameLeases, NameLocks } from "./name_leases.ts";
import type { NetworkAccounts } from "./network.ts";
import { NetworkPassphrases } from "./network_accounts.ts";
import { NetworkProvisioning } from "./provisioning.ts";
import { Rights } from "./rights.ts";
import { AccountRepair } from "./account_repair.ts";

export interface IrcNetworkOptions {
  readonly database: Database;
  readonly accounts: AccountDirectory;
  readonly network: NetworkAccounts;
  /** The network's address, which identifies it. */
  readonly address: string;
  /** The key of the passphrases: 256 bits as 64 hex digits. */
  readonly key: string;
  readonly scheduler: Scheduler;
  /** A number from 0 to 1, for jitter. */
  readonly random: () => number;
  readonly log: Log;
  /** The other nodes, and whether this one leads; null without nodes. */
  readonly nodes: NetworkNodes | null;
}

/** The nodes that share the accounts of a network. */
export interface NetworkNodes {
  /** The name of this one. */
  readonly self: string;
  /** The names of those that run. */
  readonly running: () => ReadonlySet<string>;
  /** Since when at least one of those that run has been running, in Unix milliseconds. */
  readonly runningSince: () => number;
  readonly isLeading: () => boolean;
}

/** The parts that keep accounts and a network in step. */
export interface IrcNetwork {
  readonly provisioning: NetworkProvisioning;
  readonly sync: AccountSync;
  readonly passphrases: NetworkPassphrases;
  /** Ends running work. Call it before the database is closed. */
  close(): Promise<void>;
}

/** Opens the services of this folder, without contacting the network. */
export async function openNetwork(options: IrcNetworkOptions): Promise<IrcNetwork> {
  const { database, network, nodes, scheduler, log } = options;
  const leases = nodes === null
    ? null
    : new NameLeases({ database, node: nodes.self, running: nodes.running, scheduler, log });
  let noticed = () => {};
  const passphrases = new NetworkPassphrases(options.key);
  const shared = {
    ...options,
    clock: () => scheduler.now(),
    instance: await instanceIn(database),
    ledger: await Ledger.open(database, () => noticed()),
    locks: new NameLocks(leases),
    rights: new Rights(options),
    passphrases,
  };
  const repair = new AccountRepair(shared);
  const isLeading = nodes?.isLeading ?? (() => true);
  const comparisons = nodes === null
    ? null
    : new Comparisons({ database, runningSince: nodes.runningSince, clock: scheduler.now });
  const sync = new AccountSync({ ...shared, repair, isLeading, comparisons });
  noticed = () => sync.noticed();
  return {
    provisioning: new NetworkProvisioning({ ...shared, repair, sync }),
    sync,
    passphrases,
    async close() {
      await network.close();
      await sync.close();
    },
  };
}
