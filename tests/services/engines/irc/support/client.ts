import type { MemoryConnection } from "../../../../../services/engines/irc/mod.ts";
import {
  type Message,
  parseMessage,
} from "../../../../../services/engines/irc/protocol/message.ts";
import { within } from "../../../../support/until.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A small IRC client that can wait for lines. */
export class TestClient {
  readonly #write: (text: string) => void;
  readonly #close: () => Promise<void>;
  readonly #received: string[] = [];
  #ended = false;
  #wake: (() => void) | null = null;
  #syncs = 0;

  constructor(write: (text: string) => void, close: () => Promise<void>) {
    this.#write = write;
    this.#close = close;
  }

  static overConnection(conn: Deno.Conn): TestClient {
    let writing: Promise<unknown> = Promise.resolve();
    function write(bytes: Uint8Array): void {
      writing = writing.then(() => writeAll(conn, bytes)).catch(() => {});
    }
    async function close(): Promise<void> {
      try {
        conn.close();
      } catch {
        // It was closed while it was read.
      }
      await Promise.all([reading, writing]);
    }
    const client = new TestClient((text) => write(encoder.encode(text)), close);
    const reading = client.#readFrom(conn);
    return client;
  }

  static inMemory(connection: MemoryConnection): TestClient {
    const client = new TestClient(
      (text) => text.trimEnd().split("\r\n").forEach((line) => connection.send(line)),
      () => Promise.resolve(connection.close()),
    );
    connection.onLine = (line) => client.#take([line]);
    connection.onClose = () => client.#end();
    return client;
  }

  send(...lines: string[]): void {
    this.#write(lines.map((line) => `${line}\r\n`).join(""));
  }

  /** Sends text as it is, without adding a line break. */
  sendRaw(text: string): void {
    this.#write(text);
  }

  async register(nick: string, capabilities = ""): Promise<void> {
    if (capabilities !== "") this.send(`CAP REQ :${capabilities}`);
    this.send(`NICK ${nick}`, `USER ${nick} 0 * :Real ${nick}`);
    if (capabilities !== "") this.send("CAP END");
    await this.until("422");
  }

  /** The capabilities that the server offers, with their values. */
  async offered(): Promise<string[]> {
    this.send("CAP LS 302");
    const lists = (await this.syncMessages()).filter(({ command }) => command === "CAP");
    return lists.flatMap(({ params }) => params.at(-1)?.split(" ") ?? []);
  }

  logIn(account: string, password: string): void {
    this.send("AUTHENTICATE PLAIN", `AUTHENTICATE ${btoa(`\0${account}\0${password}`)}`);
  }

  /** Everything up to and with the first message of this command. Throws when the server ends. */
  async until(command: string): Promise<Message[]> {
    const messages: Message[] = [];
    for (;;) {
      const line = await this.#next();
      if (line === null) {
        throw new Error(`Connection ended before "${command}": ${messages.map(show).join(" | ")}`);
      }
      const message = parseMessage(line);
      if (!message) throw new Error(`Server sent a line that is no message: "${line}"`);
      messages.push(message);
      if (message.command === command) return messages;
    }
  }

  /** What the server had to say until now, in the short form of {@linkcode show}. */
  async sync(): Promise<string[]> {
    return (await this.syncMessages()).map(show);
  }

  async syncMessages(): Promise<Message[]> {
    const token = `sync-${++this.#syncs}`;
    this.send(`PING ${token}`);
    const messages: Message[] = [];
    for (;;) {
      messages.push(...await this.until("PONG"));
      const pong = messages.pop();
      if (pong?.params[1] === token) return messages;
      if (pong) messages.push(pong);
    }
  }

  /** The next line as it came, or null at the end. */
  async line(): Promise<string | null> {
    return await this.#next();
  }

  /** What still comes until the server closes the connection. */
  async untilClosed(): Promise<string[]> {
    const lines: string[] = [];
    for (let line = await this.#next(); line !== null; line = await this.#next()) {
      const message = parseMessage(line);
      lines.push(message ? show(message) : line);
    }
    return lines;
  }

  async close(): Promise<void> {
    await this.#close();
  }

  async #next(): Promise<string | null> {
    while (this.#received.length === 0) {
      if (this.#ended) return null;
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      await within(promise, () => "The next line");
    }
    return this.#received.shift() ?? null;
  }

  #take(lines: string[]): void {
    this.#received.push(...lines);
    this.#wake?.();
  }

  #end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  async #readFrom(conn: Deno.Conn): Promise<void> {
    const buffer = new Uint8Array(16 * 1024);
    let rest = "";
    try {
      for (let count = await conn.read(buffer); count !== null; count = await conn.read(buffer)) {
        const lines = (rest + decoder.decode(buffer.subarray(0, count))).split("\r\n");
        rest = lines.pop() ?? "";
        this.#take(lines);
      }
      conn.close();
    } catch {
      // Closed by either side: what came is what there is.
    }
    this.#end();
  }
}

/** `nick COMMAND params`, or `COMMAND params` for what the server says. */
export function show({ source, command, params }: Message): string {
  const nick = source?.includes("!") ? `${source.slice(0, source.indexOf("!"))} ` : "";
  return `${nick}${command} ${params.join(" ")}`.trimEnd();
}

async function writeAll(conn: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let sent = 0; sent < bytes.length;) sent += await conn.write(bytes.subarray(sent));
}
