import {
  type Address,
  Connection,
  type ConnectionOwner,
  type Consumer,
  linesConsumer,
} from "./connection.ts";
import type { Ledger } from "./ledger.ts";

/** Time limit of an answer, in milliseconds. */
const ANSWER_MILLISECONDS = 30_000;

const SPACE = 0x20;
const AT = 0x40;
const COLON = 0x3a;

/** Commands that reject an expectation of another command. */
const REFUSALS = /^(?:ERROR|4(?!22)\d\d|5\d\d|90[24567])$/;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

const PING = encoder.encode("PING");

/** A client's identity. With a passphrase, it logs in by SASL PLAIN under its nick. */
export interface Login {
  readonly nick: string;
  readonly passphrase?: string;
}

/** An expected answer. */
interface Expectation {
  readonly command: Uint8Array;
  readonly containing: string;
  resolve(line: string): void;
  reject(error: Error): void;
}

/**
 * An IRC client that decodes only the lines it waits for. As a receiver of a ledger, it parses no
 * lines at all.
 */
export class IrcClient implements ConnectionOwner {
  readonly nick: string;
  consumer: Consumer;

  #connection: Connection | null = null;
  #expected: Expectation | null = null;
  #closed: string | null = null;
  #ledger: Ledger | null = null;

  private constructor(nick: string) {
    this.nick = nick;
    this.consumer = this.#lines();
  }

  /**
   * Connects and registers, one round trip per step as real clients do.
   *
   * @throws Error if the server refuses a step or does not answer
   */
  static async connect(
    address: Address,
    login: Login,
    capabilities: readonly string[] = [],
  ): Promise<IrcClient> {
    const client = new IrcClient(login.nick);
    client.#connection = await Connection.open(address, client);
    const identity = `NICK ${login.nick}\r\nUSER ${login.nick} 0 * :bench\r\n`;
    const asked = login.passphrase === undefined ? capabilities : ["sasl", ...capabilities];
    if (asked.length === 0) {
      await client.#ask(identity, "001");
      return client;
    }
    await client.#ask(`CAP LS 302\r\n${identity}`, "CAP", " LS ");
    await client.#ask(`CAP REQ :${asked.join(" ")}\r\n`, "CAP", " ACK ");
    if (login.passphrase !== undefined) await client.#authenticate(login.nick, login.passphrase);
    await client.#ask("CAP END\r\n", "001");
    return client;
  }

  async join(channel: string): Promise<void> {
    await this.#ask(`JOIN ${channel}\r\n`, "366");
  }

  /** Waits until everything that the server had queued for this client has arrived. */
  async ping(): Promise<void> {
    await this.#ask("PING bench\r\n", "PONG");
  }

  /** Sends whole lines, with CR LF. */
  send(lines: string): Promise<void> {
    return this.#open().write(lines);
  }

  /** The next line with this command or numeric that contains a text. One call at a time. */
  expect(command: string, containing = ""): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const timer = setTimeout(() => {
      this.#expected = null;
      reject(new Error(`${this.nick} got no ${command} in ${ANSWER_MILLISECONDS} ms`));
    }, ANSWER_MILLISECONDS);
    this.#expected = { command: encoder.encode(command), containing, resolve, reject };
    return promise.finally(() => clearTimeout(timer));
  }

  /** Makes this client a receiver of the ledger, which does nothing else from then on. */
  count(ledger: Ledger, receiver: number): void {
    this.#ledger = ledger;
    this.consumer = ledger.consumer(receiver);
  }

  close(): void {
    this.#ledger = null;
    this.#connection?.close();
  }

  closed(reason: string): void {
    this.#closed = reason;
    this.#expected?.reject(new Error(`The connection of ${this.nick} ended: ${reason}`));
    this.#ledger?.fail(`The connection of ${this.nick} ended: ${reason}`);
  }

  async #authenticate(name: string, passphrase: string): Promise<void> {
    await this.#ask("AUTHENTICATE PLAIN\r\n", "AUTHENTICATE");
    await this.#ask(`AUTHENTICATE ${btoa(`${name}\0${name}\0${passphrase}`)}\r\n`, "903");
  }

  async #ask(lines: string, command: string, containing = ""): Promise<void> {
    const answer = this.expect(command, containing);
    await Promise.all([this.send(lines), answer]);
  }

  #open(): Connection {
    if (this.#connection === null || this.#closed !== null) {
      throw new Error(`${this.nick} is not connected: ${this.#closed ?? "not yet"}`);
    }
    return this.#connection;
  }

  #lines(): Consumer {
    return linesConsumer((bytes, start, end) => this.#take(bytes, start, end));
  }

  #take(bytes: Uint8Array, start: number, end: number): void {
    const at = commandStart(bytes, start);
    if (startsWith(bytes, at, PING)) {
      const token = decoder.decode(bytes.subarray(at + PING.length, end));
      this.send(`PONG${token}\r\n`).catch(() => {});
      return;
    }
    const expected = this.#expected;
    if (expected === null) return;
    if (startsWith(bytes, at, expected.command)) {
      const line = decoder.decode(bytes.subarray(start, end));
      if (!line.includes(expected.containing)) return;
      this.#expected = null;
      expected.resolve(line);
    } else if (mayRefuse(bytes[at])) {
      const text = decoder.decode(bytes.subarray(at, end));
      if (!REFUSALS.test(text.split(" ", 1)[0] ?? "")) return;
      this.#expected = null;
      expected.reject(new Error(`${this.nick} was refused: ${text}`));
    }
  }
}

/** The index of a line's command, after its tags and its source. */
function commandStart(bytes: Uint8Array, start: number): number {
  let at = start;
  if (bytes[at] === AT) at = bytes.indexOf(SPACE, at) + 1;
  if (bytes[at] === COLON) at = bytes.indexOf(SPACE, at) + 1;
  return at;
}

function startsWith(bytes: Uint8Array, at: number, text: Uint8Array): boolean {
  for (let index = 0; index < text.length; index++) {
    if (bytes[at + index] !== text[index]) return false;
  }
  return true;
}

/** Whether a command with this first byte can be one of the refusals: `4`, `5`, `9` or `E`. */
function mayRefuse(first: number | undefined): boolean {
  return first === 0x34 || first === 0x35 || first === 0x39 || first === 0x45;
}
