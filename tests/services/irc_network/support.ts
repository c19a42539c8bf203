/** The rooms of accounts over a fake Ergo network. */
import {
  type AccountSync,
  ErgoAccounts,
  ErgoApi,
  instanceIn,
  type IrcNetwork,
  openNetwork,
} from "../../../services/irc_network/mod.ts";
import { FakeErgo } from "../../support/fake_ergo.ts";
import { openServices, type TestClock, type TestServices } from "../../support/services.ts";
import { withFolder } from "../../support/temporary.ts";

/** What passphrases are derived from where nothing else is said. */
const KEY = "5".repeat(64);

/** A program whose accounts are on a network. */
export interface Networked extends TestServices {
  readonly ergo: FakeErgo;
  readonly sync: AccountSync;
  /** Lets time pass and waits until what fell due is done. */
  pass(milliseconds: number): Promise<void>;
}

/** Opens the rooms in a folder; with its files the state of an earlier time comes back. */
export async function openNetworked(
  folder: string,
  ergo: FakeErgo,
  clock?: TestClock,
  key = KEY,
): Promise<Networked> {
  let network: IrcNetwork | undefined;
  const rooms = await openServices(folder, {
    provisioning: async (surroundings) => {
      const scheduler = surroundings.clock;
      const api = new ErgoApi({ address: ergo.address, token: ergo.token, scheduler });
      network = await openNetwork({
        ...surroundings,
        network: new ErgoAccounts({
          ...{ api, console: ergo.console },
          instance: await instanceIn(surroundings.database),
        }),
        address: ergo.address,
        key,
        scheduler,
        random: () => 0,
      });
      return network.provisioning;
    },
  }, clock);
  if (network === undefined) throw new Error("The rooms asked for no provisioning");
  const { sync, close } = network;
  return {
    ...rooms,
    ...{ ergo, sync },
    async pass(milliseconds) {
      rooms.clock.advance(milliseconds);
      await sync.whenIdle();
    },
    async close() {
      await close();
      await rooms.close();
    },
  };
}

/** Runs a test on a program whose accounts are on a network, after the first comparison. */
export async function withNetwork(run: (rooms: Networked) => Promise<void>): Promise<void> {
  await using ergo = new FakeErgo();
  await withFolder(async (folder) => {
    const rooms = await openNetworked(folder, ergo);
    try {
      rooms.sync.start();
      await rooms.pass(0);
      await run(rooms);
    } finally {
      await rooms.close();
    }
  });
}
