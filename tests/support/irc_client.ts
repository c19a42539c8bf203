/** A plain IRC client for tests: lines out, lines in, nothing hidden. */

import { WAIT_LIMIT } from "./until.ts";

/** The arguments of {@link IrcClient.register}. */
export interface Registration {
  readonly nick: string;
  /** Logs in by SASL PLAIN with this password; without one, the client has no account. */
  readonly password?: string;
  readonly capabilities?: readonly string[];
}

/** One connection to an IRC server. */
export class IrcClient implements AsyncDisposable {
  /** Every received line, without line breaks. */
  readonly lines: string[] = [];
  readonly #connection: Deno.Conn;
  readonly #reading: Promise<void>;
  #read = 0;
  #closed = false;
  #wake: () => void = () => {};

  private constructor(connection: Deno.Conn) {
    this.#connection = connection;
    this.#reading = this.#readLines();
  }

  /** Connects, without sending anything. */
  static async connect(address: { hostname: string; port: number }): Promise<IrcClient> {
    return new IrcClient(await Deno.connect(address));
  }

  /** Like {@linkcode connect}, over TLS; `cert` is the certificate to trust, as PEM text. */
  static async connectTls(
    address: { hostname: string; port: number },
    cert: string,
  ): Promise<IrcClient> {
    return new IrcClient(await Deno.connectTls({ ...address, caCerts: [cert] }));
  }

  /** Sends lines, each with its line break. */
  async send(...lines: string[]): Promise<void> {
    let bytes = new TextEncoder().encode(lines.map((line) => `${line}\r\n`).join(""));
    while (bytes.length > 0) bytes = bytes.subarray(await this.#connection.write(bytes));
  }

  /**
   * Returns the next matching line and skips others; answers PING meanwhile.
   *
   * @throws Error if the connection ends first or the line does not come
   */
  async expect(pattern: RegExp): Promise<string> {
    const deadline = setTimeout(() => this.#connection.close(), WAIT_LIMIT);
    try {
      for (;;) {
        while (this.#read < this.lines.length) {
          const line = this.lines[this.#read++] ?? "";
          if (pattern.test(line)) return line;
        }
        if (this.#closed) {
          throw new Error(
            `${pattern} did not come; the last lines: ${this.lines.slice(-5).join("\n")}`,
          );
        }
        await new Promise<void>((resolve) => this.#wake = resolve);
      }
    } finally {
      clearTimeout(deadline);
    }
  }

  /** Registers and waits for the end of the welcome. */
  async register({ nick, password, capabilities = [] }: Registration): Promise<void> {
    const requested = password === undefined ? capabilities : ["sasl", ...capabilities];
    await this.send("CAP LS 302", `NICK ${nick}`, `USER ${nick} 0 * :${nick}`);
    if (requested.length > 0) await this.send(`CAP REQ :${requested.join(" ")}`);
    if (password !== undefined) {
      await this.send(
        "AUTHENTICATE PLAIN",
        `AUTHENTICATE ${btoa(`${nick}\0${nick}\0${password}`)}`,
      );
    }
    await this.send("CAP END");
    await this.expect(/ (376|422) /);
  }

  /** Joins a channel and waits until the server has confirmed it. */
  async join(channel: string): Promise<void> {
    await this.send(`JOIN ${channel}`);
    await this.expect(/ 366 /);
  }

  /** Resolves when the server has closed the connection. */
  ended(): Promise<void> {
    return this.#reading;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#closed) this.#connection.close();
    await this.#reading;
  }

  async #readLines(): Promise<void> {
    const decoder = new TextDecoder();
    const buffer = new Uint8Array(16 * 1024);
    let rest = "";
    try {
      for (;;) {
        const count = await this.#connection.read(buffer);
        if (count === null) break;
        const lines = (rest + decoder.decode(buffer.subarray(0, count), { stream: true })).split(
          "\r\n",
        );
        rest = lines.pop() ?? "";
        for (const line of lines) {
          if (line.startsWith("PING ")) await this.send(`PONG ${line.slice("PING ".length)}`);
          this.lines.push(line);
        }
        this.#wake();
      }
      this.#connection.close();
    } catch {
      // Closed from this side, or broken: both are the end.
    }
    this.#closed = true;
    this.#wake();
  }
}
