import {
  type AccountRegistration,
  type Accounts,
  IrcServer,
  type IrcServerOptions,
  type Verification,
} from "../../../../../services/engines/irc/mod.ts";
import { TestClient } from "./client.ts";

/** Accounts by name, for tests: passwords in clear, every name owns its nick. */
export class TestAccounts implements Accounts {
  /** Outcome of the next checks in place of the real one. */
  outcome: Verification | null = null;
  ownsChannel?: (channel: string) => boolean;
  muteReason?: (account: string) => string | null;
  messageDelay?: (account: string) => number;
  actsOnMessages?: (account: string) => boolean;
  accountSince?: (account: string) => number;
  register?: (name: string, password: string) => Promise<AccountRegistration>;
  readonly #passwords: Record<string, string>;
  readonly #status = new Map<string, "operator" | "voice">();

  constructor(passwords: Record<string, string> = {}) {
    this.#passwords = passwords;
  }

  /** Lets people make accounts themselves, with passwords of at least three characters. */
  allowRegistration(): this {
    this.register = async (name, password) => {
      await Promise.resolve();
      if (this.ownerOf(name) !== null) return refused("taken");
      if (password.length < 3) return refused("weak");
      this.#passwords[name] = password;
      return { kind: "registered", account: name };
    };
    return this;
  }

  /** Status that the account gets in every channel. */
  setStatus(account: string, status: "operator" | "voice"): void {
    this.#status.set(account, status);
  }

  async verify(name: string, password: string): Promise<Verification> {
    await Promise.resolve();
    if (this.outcome) return this.outcome;
    const account = this.ownerOf(name);
    return account !== null && this.#passwords[account] === password
      ? { kind: "accepted", account }
      : { kind: "refused" };
  }

  ownerOf(nick: string): string | null {
    if (nick.toLowerCase() === "reserved") return "\0nobody";
    const names = Object.keys(this.#passwords);
    return names.find((name) => name.toLowerCase() === nick.toLowerCase()) ?? null;
  }

  channelStatus(account: string): "operator" | "voice" | null {
    return this.#status.get(account) ?? null;
  }

  async verifyOperator(name: string, password: string): Promise<Verification> {
    return name === "admin" ? await this.verify(name, password) : { kind: "refused" };
  }
}

function refused(fault: "taken" | "weak"): AccountRegistration {
  return { kind: "refused", fault, reason: `It is ${fault}` };
}

/** A server on a free port of loopback, closed at the end of the test with all its clients. */
export class TestServer implements AsyncDisposable {
  readonly server: IrcServer;
  readonly accounts: TestAccounts;
  readonly #clients: TestClient[] = [];
  #port: number | null = null;

  constructor(options: Partial<Omit<IrcServerOptions, "accounts">> & { accounts?: TestAccounts }) {
    this.accounts = options.accounts ?? new TestAccounts();
    this.server = new IrcServer({
      serverName: "irc.test",
      networkName: "Test",
      serverDescription: "a server under test",
      requireAccount: false,
      ...options,
      accounts: this.accounts,
    });
  }

  get port(): number {
    this.#port ??= this.server.listen({ hostname: "127.0.0.1", port: 0 }).port;
    return this.#port;
  }

  /** A connection over TCP that has said nothing yet. */
  async dial(): Promise<TestClient> {
    const conn = await Deno.connect({ hostname: "127.0.0.1", port: this.port });
    conn.setNoDelay(true);
    const client = TestClient.overConnection(conn);
    this.#clients.push(client);
    return client;
  }

  /** A registered client over TCP; capabilities separated by spaces. */
  async client(nick: string, capabilities = ""): Promise<TestClient> {
    const client = await this.dial();
    await client.register(nick, capabilities);
    return client;
  }

  /** A registered client over TCP, logged in to the account of that name. */
  async member(account: string, password: string, capabilities = ""): Promise<TestClient> {
    const client = await this.dial();
    client.send("CAP LS 302", `NICK ${account}`, `USER ${account} 0 * :${account}`);
    client.send(`CAP REQ :sasl ${capabilities}`);
    client.logIn(account, password);
    client.send("CAP END");
    await client.until("422");
    return client;
  }

  /** A registered client inside the process. */
  async internal(
    nick: string,
    options: { account?: string; privileged?: boolean } = {},
    capabilities = "",
  ): Promise<TestClient> {
    const client = TestClient.inMemory(this.server.connect(options));
    this.#clients.push(client);
    await client.register(nick, capabilities);
    return client;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server.close();
    for (const client of this.#clients) await client.close();
  }
}

/**
 * Starts a server. Unless the options say otherwise, every client may send without a limit, and be
 * silent for as long as it likes: in a test, time leaps, or stands still on a busy machine.
 */
export function startServer(
  options: Partial<Omit<IrcServerOptions, "accounts">> & { accounts?: TestAccounts } = {},
): TestServer {
  const limits = {
    strangerRate: null,
    accountRate: null,
    registrationSeconds: null,
    pingSeconds: null,
    ...options.limits,
  };
  return new TestServer({ ...options, limits });
}
