/** An IRC server with NickServ and ChanServ, over services of its own. */
import { IrcServer } from "../../../../services/irc/mod.ts";
import { addIrcServices } from "../../../../services/irc_server/services/mod.ts";
import { BY_OPERATOR, openServices, type TestServices } from "../../../support/services.ts";
import { withFolder } from "../../../support/temporary.ts";
import { TestClient } from "../../irc/support/client.ts";

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

  constructor(services: TestServices, { selfRegistration = true } = {}) {
    this.services = services;
    const { authority, channels } = services;
    this.server = new IrcServer({
      serverName: "irc.test",
      networkName: "Test",
      serverDescription: "a server under test",
      requireAccount: false,
      limits: { strangerRate: null, accountRate: null },
      ...{ accounts: authority, channels, clock: services.clock.read, log: services.log },
    });
    const registryStatus = authority.registryStatus.bind(authority);
    addIrcServices({ ...services, server: this.server, selfRegistration, registryStatus });
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
    await this.server.close();
    for (const client of this.#clients) await client.close();
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
  options: { selfRegistration?: boolean } = {},
): Promise<void> {
  await withFolder(async (folder) => {
    let world = new World(await openServices(folder), options);
    const close = async () => {
      await world.close();
      await world.services.close();
    };
    try {
      await run(world, async () => {
        const { clock } = world.services;
        await close();
        world = new World(await openServices(folder, {}, clock), options);
        return world;
      });
    } finally {
      await close();
    }
  });
}
