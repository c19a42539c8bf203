import type { FakeErgo } from "./fake_ergo.ts";

/** The IRC side of a fake Ergo: only what an operator needs to talk to services. */
export class FakeErgoIrc implements AsyncDisposable {
  readonly operator = { name: "muster", password: "password-of-the-operator" };
  readonly #ergo: FakeErgo;
  readonly #listener: Deno.TcpListener;
  readonly #connections = new Set<Deno.TcpConn>();
  readonly #serving: Promise<void>;

  constructor(ergo: FakeErgo) {
    this.#ergo = ergo;
    this.#listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    this.#serving = this.#serve();
  }

  /** Its address. */
  get address(): string {
    return `127.0.0.1:${this.#listener.addr.port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ergo.release();
    this.#listener.close();
    for (const connection of this.#connections) this.#drop(connection);
    await this.#serving;
  }

  async #serve(): Promise<void> {
    const clients: Promise<void>[] = [];
    try {
      for await (const connection of this.#listener) {
        this.#connections.add(connection);
        const talk = this.#talk(connection).catch(ignoreClosed);
        clients.push(talk.finally(() => this.#drop(connection)));
      }
    } finally {
      await Promise.all(clients);
    }
  }

  #drop(connection: Deno.TcpConn): void {
    if (this.#connections.delete(connection)) connection.close();
  }

  async #talk(connection: Deno.TcpConn): Promise<void> {
    const client = { nick: "*", isOperator: false };
    const encoder = new TextEncoder();
    const decoder = new TextDecoder();
    const buffer = new Uint8Array(4096);
    let rest = "";
    for (;;) {
      const length = await connection.read(buffer);
      if (length === null) return;
      const text = decoder.decode(buffer.subarray(0, length), { stream: true });
      const lines = (rest + text).split("\r\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        for (const reply of await this.#reply(line, client)) {
          await connection.write(encoder.encode(`${reply}\r\n`));
        }
      }
    }
  }

  async #reply(
    line: string,
    client: { nick: string; isOperator: boolean },
  ): Promise<string[]> {
    const [command = "", first = "", second = ""] = line.split(" ");
    switch (command) {
      case "NICK":
        client.nick = first;
        return [];
      case "CAP":
        return first === "LS"
          ? [":ergo.test CAP * LS :"]
          : [`:ergo.test 001 ${client.nick} :Welcome`, `:ergo.test 422 ${client.nick} :No MOTD`];
      case "PING":
        return [`:ergo.test PONG ergo.test ${first}`];
      case "OPER":
        client.isOperator = first === this.operator.name && second === this.operator.password;
        return [`:ergo.test ${client.isOperator ? 381 : 464} ${client.nick} :`];
      case "PRIVMSG": {
        const text = line.slice(line.indexOf(":") + 1);
        const lines = text.startsWith("\x01") ? [text] : await this.#ask(first, text, client);
        return lines.map((said) => `:${first}!${first}@services NOTICE ${client.nick} :${said}`);
      }
      default:
        return [];
    }
  }

  async #ask(
    service: string,
    command: string,
    { isOperator }: { readonly isOperator: boolean },
  ): Promise<string[]> {
    return isOperator ? await this.#ergo.ask(service, command) : ["Insufficient oper privs"];
  }
}

function ignoreClosed(error: unknown): void {
  const closed = error instanceof Deno.errors.BadResource ||
    error instanceof Deno.errors.ConnectionReset || error instanceof Deno.errors.BrokenPipe ||
    error instanceof Deno.errors.Interrupted;
  if (!closed) throw error;
}
