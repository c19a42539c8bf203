/**
 * The parts of an Ergo IRC server that muster uses: its HTTP API, over real HTTP, and its services.
 */
import { Unavailable } from "../../services/kernel/errors.ts";
import { foldCase } from "../../services/engines/irc/mod.ts";
import type { ServicesConsole } from "../../services/chat/irc_network/mod.ts";

/** An account on the network. */
export interface FakeAccount {
  readonly name: string;
  passphrase: string;
  suspended: boolean;
  email: string;
}

/**
 * How a request fails: refused before it is carried out; carried out, but the connection is lost;
 * carried out, but never answered; neither carried out nor answered; answered with something other
 * than Ergo's JSON; redirected; answered without end.
 */
export type Fault = "refused" | "lost" | "stuck" | "silent" | "nonsense" | "redirected" | "endless";

interface ArmedFault {
  readonly what: string;
  readonly fault: Fault;
  readonly happened: () => void;
}

/** An empty Ergo, which can be made to fail at chosen moments. */
export class FakeErgo implements AsyncDisposable {
  readonly accounts = new Map<string, FakeAccount>();
  /** Accounts whose sessions were ended, in order. */
  readonly ended: string[] = [];
  /** Changes of statuses, such as `#ops +v coder`. */
  readonly statuses: string[] = [];
  /** Unregistered channels, which keep no statuses. */
  readonly unregistered = new Set<string>();
  /** The requests: paths of the API, and commands to services. */
  readonly asked: string[] = [];
  /** The capabilities of the operator's class, as since Ergo 2.9. */
  readonly capabilities = new Set(["accreg", "ban", "chanreg"]);
  /** Counts the operator's connections. */
  session = 1;
  /** Whether the whole server is down. */
  away = false;
  readonly token = "token-of-the-api";
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #faults: ArmedFault[] = [];
  readonly #silent = new Set<() => void>();

  constructor() {
    this.#server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen: () => {} },
      (request) => this.#answer(request),
    );
  }

  /** The address of its API. */
  get address(): string {
    return `127.0.0.1:${this.#server.addr.port}`;
  }

  /** The connection of an operator to its services, without a network. */
  get console(): ServicesConsole {
    const session = () => this.away ? null : this.session;
    return {
      get session() {
        return session();
      },
      ask: (service, command) => this.ask(service, command),
      close: async () => {},
    };
  }

  /**
   * Makes the next request fail whose path or command begins with these words.
   *
   * @returns a promise that resolves when it begins to fail
   */
  failNext(what: string, fault: Fault): Promise<void> {
    const { promise, resolve: happened } = Promise.withResolvers<void>();
    this.#faults.push({ what, fault, happened });
    return promise;
  }

  /** Adds an account, as if somebody had made it there. */
  add(name: string, passphrase: string): FakeAccount {
    const account = { name, passphrase, suspended: false, email: "" };
    this.accounts.set(foldCase(name), account);
    return account;
  }

  get(name: string): FakeAccount | undefined {
    return this.accounts.get(foldCase(name));
  }

  /** Whether a login with SASL would succeed. */
  takes(name: string, passphrase: string): boolean {
    const account = this.get(name);
    return account?.passphrase === passphrase && !account.suspended;
  }

  /** Ends the requests that were never to be answered. */
  release(): void {
    for (const end of this.#silent) end();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.release();
    await this.#server.shutdown();
  }

  #fault(what: string): Fault | null {
    const index = this.#faults.findIndex((fault) => what.startsWith(fault.what));
    const [fault] = index < 0 ? [] : this.#faults.splice(index, 1);
    fault?.happened();
    return fault?.fault ?? null;
  }

  async #answer(request: Request): Promise<Response> {
    const path = new URL(request.url).pathname;
    this.asked.push(path);
    if (request.headers.get("authorization") !== `Bearer ${this.token}`) {
      return new Response("Unauthorized", { status: 401 });
    }
    const fault = this.away ? "refused" : this.#fault(path);
    const body: Record<string, string> = await request.json();
    switch (fault) {
      case "refused":
        return new Response("not now", { status: 503 });
      case "silent":
        return await this.#neverAnswer(request.signal);
      case "nonsense":
        return new Response("<html>");
      case "redirected":
        return Response.redirect(`http://${this.address}/elsewhere`);
      case "endless":
        return new Response(endless());
    }
    const answer = this.#call(path, body["accountName"] ?? "", body["passphrase"] ?? "");
    if (answer === null) return new Response("404 page not found", { status: 404 });
    if (fault === "stuck") return await this.#neverAnswer(request.signal);
    return fault === "lost" ? new Response("lost", { status: 502 }) : Response.json(answer);
  }

  /** Waits until the caller or this server is gone. */
  async #neverAnswer(signal: AbortSignal): Promise<Response> {
    await new Promise<void>((resolve) => {
      this.#silent.add(resolve);
      signal.addEventListener("abort", () => resolve());
    });
    return new Response();
  }

  #call(path: string, name: string, passphrase: string): unknown {
    const account = this.get(name);
    const missing = { success: false, errorCode: "ACCOUNT_DOES_NOT_EXIST" };
    switch (path) {
      case "/v1/ns/saregister":
        if (account !== undefined) return { success: false, errorCode: "ACCOUNT_EXISTS" };
        if (name.length > 32) {
          return { success: false, errorCode: "UNKNOWN_ERROR", error: "Account name is too long" };
        }
        this.add(name, passphrase);
        return { success: true };
      case "/v1/ns/passwd":
        if (account === undefined) return missing;
        if (passphrase.includes(" ")) return { success: false, errorCode: "INVALID_PASSPHRASE" };
        account.passphrase = passphrase;
        return { success: true };
      case "/v1/check_auth":
        return { success: this.takes(name, passphrase), accountName: account?.name };
      case "/v1/ns/info":
        return account === undefined || account.suspended
          ? { success: false }
          : { success: true, accountName: account.name };
      case "/v1/ns/saget":
        return account === undefined ? missing : { success: true, alwaysOn: "default" };
      case "/v1/ns/list": {
        const accounts = [...this.accounts.values()].map(({ name: accountName }) => ({
          success: true,
          accountName,
        }));
        return { success: true, accounts, totalCount: accounts.length };
      }
      default:
        return null;
    }
  }

  /** A service's answer to an operator. */
  async ask(service: string, command: string): Promise<string[]> {
    const words = command.split(" ");
    const what = `${service} ${command}`;
    this.asked.push(what);
    const fault = this.away ? "refused" : this.#fault(what);
    if (fault !== null && fault !== "lost" && fault !== "stuck") {
      throw new Unavailable("The console is away");
    }
    const lines = this.#isRestricted(service, words)
      ? ["Command restricted"]
      : service === "NickServ"
      ? this.#nickServ(words)
      : this.#chanServ(words);
    if (fault === "lost") throw new Unavailable("The console was lost");
    if (fault === "stuck") await this.#neverAnswer(new AbortController().signal);
    return await Promise.resolve(lines);
  }

  #isRestricted(service: string, [verb]: string[]): boolean {
    const needed = service === "ChanServ"
      ? (verb === "LIST" ? "chanreg" : null)
      : (verb === "SUSPEND" ? "ban" : "accreg");
    return needed !== null && !this.capabilities.has(needed);
  }

  #nickServ([verb, first = "", second = "", third = ""]: string[]): string[] {
    if (verb === "SAGET" || verb === "SASET") return this.#setting(first, third);
    if (verb === "ERASE") return this.#erase(first, second);
    if (first === "LIST") {
      const suspended = [...this.accounts.values()].filter((account) => account.suspended);
      return [
        `There are ${suspended.length} active account suspensions.`,
        ...suspended.map(({ name }) =>
          `Account ${name} suspended at Fri, 20 Nov 2026. Duration: x`
        ),
      ];
    }
    const account = this.get(second);
    if (account === undefined) return ["No such account"];
    if (first === "ADD") {
      account.suspended = true;
      this.ended.push(account.name);
      return [`Successfully suspended account ${second}`];
    }
    if (!account.suspended) return ["Account was not suspended"];
    account.suspended = false;
    return [`Successfully un-suspended account ${second}`];
  }

  /** `SAGET account email`, and `SASET account email address`. */
  #setting(name: string, address: string): string[] {
    const account = this.get(name);
    if (account === undefined) return ["No such account"];
    if (address !== "") account.email = address;
    const changed = address === "" ? [] : ["Successfully changed your account settings"];
    const shown = account.email === ""
      ? "You have no stored e-mail address"
      : `Your stored e-mail address is: ${account.email}`;
    return [...changed, shown];
  }

  #erase(name: string, code: string): string[] {
    if (code !== "c0de") {
      return [
        "Warning: erasing this account will allow it to be re-registered",
        `To confirm, run this command: /NS ERASE ${name} c0de`,
      ];
    }
    if (this.accounts.delete(foldCase(name))) this.ended.push(name);
    return [`Successfully unregistered account ${name}`];
  }

  #chanServ([verb, channel = "", change = "", account = ""]: string[]): string[] {
    if (verb === "LIST") return ["*** ChanServ LIST ***"];
    if (this.unregistered.has(channel)) return ["Channel is not registered"];
    this.statuses.push(`${channel} ${change} ${account}`);
    return [`Successfully set persistent mode ${change} on ${account}`];
  }
}

/** A body without end that is not JSON. */
function endless(): ReadableStream<Uint8Array> {
  const chunk = new TextEncoder().encode(" ".repeat(65_536));
  return new ReadableStream({ pull: (controller) => controller.enqueue(chunk) });
}
