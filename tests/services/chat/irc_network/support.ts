/** The services about accounts, over a fake Ergo network. */
import {
  type AccountSync,
  ErgoAccounts,
  ErgoApi,
  instanceIn,
  type IrcNetwork,
  type NetworkNodes,
  openNetwork,
} from "../../../../services/chat/irc_network/mod.ts";
import { FakeErgo } from "../../../support/fake_ergo.ts";
import { openServices, type TestServices } from "../../../support/services.ts";
import type { TestScheduler } from "../../../support/scheduler.ts";
import { withFolder } from "../../../support/temporary.ts";

/** What passphrases are derived from where nothing else is said. */
const KEY = "5".repeat(64);

/** A program whose accounts are on a network. */
export interface Networked extends TestServices {
  readonly ergo: FakeErgo;
  readonly sync: AccountSync;
  /** Lets time pass and waits until what fell due is done. */
  pass(milliseconds: number): Promise<void>;
}

export interface NetworkedOptions {
  /** What passphrases are derived from. */
  readonly key?: string;
  /** The nodes that share the accounts; none by default. */
  readonly nodes?: NetworkNodes | null;
}

/** Opens the services in a folder; with its files the state of an earlier time comes back. */
export async function openNetworked(
  folder: string,
  ergo: FakeErgo,
  clock?: TestScheduler,
  { key = KEY, nodes = null }: NetworkedOptions = {},
): Promise<Networked> {
  let network: IrcNetwork | undefined;
  const services = await openServices(folder, {
    provisioning: async ({ database, identity: { accounts }, scheduler, log }) => {
      const api = new ErgoApi({ address: ergo.address, token: ergo.token, scheduler });
      network = await openNetwork({
        database,
        accounts,
        scheduler,
        log,
        network: new ErgoAccounts({
          api,
          console: ergo.console,
          instance: await instanceIn(database),
        }),
        address: ergo.address,
        key,
        random: () => 0,
        nodes,
      });
      return network.provisioning;
    },
  }, clock);
  if (network === undefined) throw new Error("The services asked for no provisioning");
  const { sync, close } = network;
  return {
    ...services,
    ergo,
    sync,
    async pass(milliseconds) {
      services.clock.advance(milliseconds);
      await sync.whenIdle();
    },
    async close() {
      await close();
      await services.close();
    },
  };
}

/** Runs a test on a program whose accounts are on a network, after the first comparison. */
export async function withNetwork(
  run: (services: Networked) => Promise<void>,
  options: NetworkedOptions = {},
): Promise<void> {
  await using ergo = new FakeErgo();
  await withFolder(async (folder) => {
    const services = await openNetworked(folder, ergo, undefined, options);
    try {
      services.sync.start();
      await services.pass(0);
      await run(services);
    } finally {
      await services.close();
    }
  });
}

/** Whether both sides take a passphrase: the network, and this program over HTTP. */
export async function takes({ ergo, logins }: Networked, name: string, passphrase: string) {
  const attempt = { name, password: passphrase, address: "192.0.2.1", door: "basic" } as const;
  const outcome = await logins.logIn(attempt, ["agent", "person"]);
  return [ergo.takes(name, passphrase), outcome.kind === "accepted"];
}
