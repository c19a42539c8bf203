/** An IRC server with NickServ and ChanServ, over services of its own. */
import type { IrcServer } from "../../../../../services/engines/irc/mod.ts";
import type { TestScheduler } from "../../../../support/scheduler.ts";
import { BY_OPERATOR, openServices, type TestServices } from "../../../../support/services.ts";
import { withFolder } from "../../../../support/temporary.ts";
import { TestClient } from "../../../engines/irc/support/client.ts";

export const PASSWORD = "correct-horse";

/** A client that asks a service and waits for what it answers. */
export class Asking {
  readonly client: TestClient;

  constructor(client: TestClient) {
    this.client = client;
  }

  /** Sends a line, and gives what the server says until it is done; NOTICEs as their text alone. */
  async ask(...lines: string[]): Promise<string[]> {
    this.client.send(...lines);
    const answers = await this.client.sync();
    return answers.map((line) => line.replace(/^(?:Nick|Chan)Serv NOTICE \S+ /, ""));
  }
}

/** The server, and the services that it uses. */
export class World {
  readonly services: TestServices;
  readonly server: IrcServer;
  readonly #clients: TestClient[] = [];
  readonly #port: number;

  constructor(services: TestServices) {
    this.services = services;
    this.server = services.server;
    this.#port = this.server.listen({ hostname: "127.0.0.1", port: 0 }).port;
  }

  /** Makes the account of a person. */
  async person(account: string): Promise<void> {
    await this.services.ircAccounts.create({ account, password: PASSWORD }, BY_OPERATOR);
  }

  /** A registered client without an account. */
  async guest(nick: string, capabilities = ""): Promise<Asking> {
    const client = await this.#dial();
    await client.register(nick, capabilities);
    return new Asking(client);
  }

  /** A registered client that is logged in. */
  async member(account: string, password = PASSWORD): Promise<Asking> {
    const client = await this.#dial();
    client.send("CAP LS 302", `NICK ${account}`, `USER ${account} 0 * :${account}`);
    client.send("CAP REQ :sasl");
    client.logIn(account, password);
    client.send("CAP END");
    await client.until("422");
    return new Asking(client);
  }

  async close(): Promise<void> {
    for (const client of this.#clients) await client.close();
    await this.services.close();
  }

  async #dial(): Promise<TestClient> {
    const conn = await Deno.connect({ hostname: "127.0.0.1", port: this.#port });
    const client = TestClient.overConnection(conn);
    this.#clients.push(client);
    return client;
  }
}

/** Runs a test on a server of its own; `again` gives the one that comes after a restart. */
export async function withServices(
  run: (world: World, again: () => Promise<World>) => Promise<void>,
  { selfRegistration = true } = {},
): Promise<void> {
  await withFolder(async (folder) => {
    const open = async (clock?: TestScheduler) => {
      const irc = { accounts: { self_registration: selfRegistration, registrations_per_hour: 2 } };
      return new World(await openServices(folder, { ircServer: true, config: { irc } }, clock));
    };
    let world = await open();
    try {
      await run(world, async () => {
        const { clock } = world.services;
        await world.close();
        return world = await open(clock);
      });
    } finally {
      await world.close();
    }
  });
}
