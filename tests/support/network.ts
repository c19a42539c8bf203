/** Starts a real IRC network from Debian's packages: InspIRCd with Atheme or Anope. */
import { join } from "node:path";
import { makeCertificate } from "./certificate.ts";
import { freePort } from "./free_port.ts";
import { IrcClient } from "./irc_client.ts";
import {
  anopeConfig,
  athemeConfig,
  inspircdConfig,
  type NetworkPlan,
  type Services,
} from "./network_config.ts";
import { peer } from "./peers.ts";
import { Running } from "./running.ts";
import { WAIT_LIMIT } from "./until.ts";

export interface NetworkOptions {
  readonly services: Services;
  /** Whether the server offers SASL, labels, echoes, ids and times; by default, it does. */
  readonly modern?: boolean;
}

/** Options for `Deno.test` of a test that needs such a network. */
export function networkPeers(services: Services): { ignore: boolean } {
  const program = services === "atheme" ? "atheme-services" : "anope";
  return {
    ignore: [peer("inspircd"), peer(program), peer("openssl")].some(({ ignore }) => ignore),
  };
}

/** A network on this machine. */
export class TestNetwork implements AsyncDisposable {
  readonly plan: NetworkPlan;
  readonly servicesPassword = "services-admin-password";
  readonly #options: NetworkOptions;
  #server: Running | null = null;
  #services: Running | null = null;
  /** Counts the starts of the server. */
  #starts = 0;

  private constructor(plan: NetworkPlan, options: NetworkOptions) {
    this.plan = plan;
    this.#options = options;
  }

  /** Starts a network whose services know their operator. */
  static async start(options: NetworkOptions): Promise<TestNetwork> {
    const folder = await Deno.makeTempDir({ prefix: "muster-network-" });
    await Deno.chmod(folder, 0o777);
    await makeCertificate(folder);
    await Deno.chmod(join(folder, "tls.key"), 0o644);
    const plan = {
      folder,
      port: freePort(),
      tlsPort: freePort(),
      linkPort: freePort(),
      servicesAccount: "services-admin",
      operator: { name: "operator", password: "operator-password" },
    };
    const network = new TestNetwork(plan, options);
    try {
      await network.startServer();
      await network.#startServices();
      await network.register(plan.servicesAccount, network.servicesPassword);
    } catch (error) {
      await network[Symbol.asyncDispose]();
      throw error;
    }
    return network;
  }

  /** Its processes that run. */
  get pids(): readonly number[] {
    return [this.#server, this.#services].flatMap((program) => program?.pid ?? []);
  }

  get address(): { hostname: string; port: number } {
    return { hostname: "127.0.0.1", port: this.plan.port };
  }

  /**
   * Connects a client that logs in: by SASL, or with NickServ if the server is not modern.
   *
   * @param nick by default, the account's name
   * @returns null if the network refuses the password
   */
  async logIn(account: string, password: string, nick = account): Promise<IrcClient | null> {
    const client = await IrcClient.connect(this.address);
    try {
      const isIn = this.#options.modern ?? true
        ? await logInBySasl(client, nick, { account, password })
        : await identify(client, nick, { account, password });
      if (isIn) return client;
      await client[Symbol.asyncDispose]();
      return null;
    } catch (error) {
      await client[Symbol.asyncDispose]();
      throw error;
    }
  }

  /**
   * Starts the server; running services reconnect to it by themselves.
   *
   * Each start has a new server id, because InspIRCd counts clients' ids from the beginning again.
   * If a client leaves before it is registered, Atheme keeps its SASL session for up to a minute,
   * and does not answer a new client with the same id.
   */
  async startServer(): Promise<void> {
    const id = `${this.#starts++}AA`;
    const config = inspircdConfig(this.plan, id, this.#options.modern ?? true);
    const path = await this.#write("inspircd.conf", config);
    this.#server = new Running("inspircd", ["--nofork", "--nopid", `--config=${path}`]);
    await this.#server.unlessItEnds(listening(this.address));
    await this.#services?.logged(LINKED);
  }

  /** Ends the server at once, and with it every connection. */
  async stopServer(): Promise<void> {
    await this.#server?.stop();
    this.#server = null;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#services?.stop();
    await this.stopServer();
    await Deno.remove(this.plan.folder, { recursive: true });
  }

  async #startServices(): Promise<void> {
    const { folder } = this.plan;
    if (this.#options.services === "atheme") {
      const path = await this.#write("atheme.conf", athemeConfig(this.plan));
      this.#services = new Running("atheme-services", [
        ...["-n", "-c", path, "-D", folder],
        ...["-l", join(folder, "atheme.log"), "-p", join(folder, "atheme.pid")],
      ]);
    } else {
      await this.#write("anope.motd", "");
      await this.#write("anope.conf", anopeConfig(this.plan));
      this.#services = new Running("anope", [
        ...["--nofork", "--config=anope.conf", "--modulesdir=/usr/lib/anope"],
        ...["confdir", "dbdir", "logdir"].map((option) => `--${option}=${folder}`),
      ]);
    }
    await this.#services.logged(LINKED);
  }

  /** Registers an account as its owner would. */
  async register(account: string, password: string): Promise<void> {
    await using client = await IrcClient.connect(this.address);
    await client.register({ nick: account });
    await client.send(`PRIVMSG NickServ :REGISTER ${password} ${account}@network.test`);
    await client.expect(/ 900 /);
  }

  async #write(name: string, text: string): Promise<string> {
    const path = join(this.plan.folder, name);
    await Deno.writeTextFile(path, `${text}\n`);
    await Deno.chmod(path, 0o644);
    return path;
  }
}

/** The log line of either package of services after it has synchronised with the server. */
const LINKED = /finished synching with uplink|\(Services\) is done syncing/;

interface Login {
  readonly account: string;
  readonly password: string;
}

/** Step by step: InspIRCd accepts nothing in advance. */
async function logInBySasl(
  client: IrcClient,
  nick: string,
  { account, password }: Login,
): Promise<boolean> {
  await client.send("CAP LS 302", `NICK ${nick}`, `USER ${nick} 0 * :${nick}`, "CAP REQ sasl");
  await client.expect(/ CAP \S+ ACK /);
  await client.send("AUTHENTICATE PLAIN");
  await client.expect(/^AUTHENTICATE /);
  await client.send(`AUTHENTICATE ${btoa(`${account}\0${account}\0${password}`)}`);
  if (/ 904 /.test(await client.expect(/ 90[34] /))) return false;
  await client.send("CAP END");
  await client.expect(/ (376|422) /);
  return true;
}

async function identify(
  client: IrcClient,
  nick: string,
  { account, password }: Login,
): Promise<boolean> {
  await client.register({ nick });
  await client.send(
    `PRIVMSG NickServ :IDENTIFY ${account} ${password}`,
    "PRIVMSG NickServ :\x01PING over\x01",
  );
  return / 900 /.test(await client.expect(/ 900 |PING over/));
}

/** Resolves when somebody listens. */
async function listening(address: { hostname: string; port: number }): Promise<void> {
  const deadline = Date.now() + WAIT_LIMIT;
  for (;;) {
    try {
      const connection = await Deno.connect(address);
      return connection.close();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
