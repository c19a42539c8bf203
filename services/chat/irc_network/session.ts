import { Buffer } from "node:buffer";
import { Unavailable } from "../../kernel/errors.ts";
import type { Connect, LineConnection } from "../bridge/mod.ts";
import { foldCase, type Message, parseMessage } from "../../engines/irc/mod.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";

/** How long a server may take to register us. */
const REGISTRATION_MILLISECONDS = 30_000;

/** How long the network may take to answer one question. */
const ANSWER_MILLISECONDS = 10_000;

/** Most lines of one answer. */
const MAX_ANSWER_LINES = 2000;

/** Longest piece of a SASL message (IRCv3 SASL 3.1). */
const SASL_CHUNK = 400;

const WANTED_CAPABILITIES = ["batch", "labeled-response", "message-tags"];

/** The end of a server's greeting: the end of its message of the day, or its absence. */
const END_OF_GREETING = new Set(["376", "422"]);

/** Characters that no line may contain. */
const BREAK = /[\0\r\n]/;

const SASL_REFUSALS = new Set(["902", "904", "905", "906", "908"]);
const NICK_REFUSALS = new Set(["432", "433", "436", "437"]);
/** The network does not accept a nick of this form. */
const ERRONEOUS_NICK = "432";

/** A name with its password. */
export interface Credentials {
  readonly name: string;
  readonly password: string;
}

export interface SessionOptions {
  readonly connect: Connect;
  readonly scheduler: Scheduler;
  readonly nick: string;
  /** Whether another nick will do if this one is not available. */
  readonly anyNick: boolean;
  /** For PASS; null if the server requires none. */
  readonly serverPassword: string | null;
  /** The account to log in to, by SASL PLAIN or, without SASL, by NickServ; null for none. */
  readonly login: Credentials | null;
  /** Credentials for OPER; null to stay a plain user. */
  readonly operator: Credentials | null;
  /** The nick of NickServ. */
  readonly nickServ: string;
  /** Whether only the login matters: after SASL, nothing more is waited for. */
  readonly loginOnly?: boolean;
}

/** What a network can refuse: the form of a nick, a nick in use, a login, OPER. */
export type Refused = "nick" | "taken nick" | "login" | "operator";

/** The network accepted the connection and refused its nick, login or OPER. */
export class SessionRefused extends Unavailable {
  readonly what: Refused;

  constructor(what: Refused, message: string) {
    super(message);
    this.what = what;
  }
}

/**
 * A registered connection to the network, for one question at a time. Each answer is a series of
 * lines. A question without an answer in time closes the connection, so that a late answer is never
 * mistaken for another.
 */
export class IrcSession {
  /** Called once when it ends. */
  onClose: (() => void) | null = null;
  readonly #options: SessionOptions;
  readonly #connection: LineConnection;
  readonly #capabilities = new Set<string>();
  #nick: string;
  #account: string | null = null;
  #take: ((message: Message) => void) | null = null;
  #fail: ((error: Error) => void) | null = null;
  #closed = false;
  #lastToken = 0;

  private constructor(options: SessionOptions, connection: LineConnection) {
    this.#options = options;
    this.#connection = connection;
    this.#nick = options.nick;
  }

  /**
   * Connects and registers.
   *
   * @throws SessionRefused, or Unavailable if the network cannot be reached
   */
  static async open(options: SessionOptions): Promise<IrcSession> {
    let connection: LineConnection;
    try {
      connection = await options.connect();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new Unavailable(`The IRC network cannot be reached: ${reason}`);
    }
    const session = new IrcSession(options, connection);
    connection.onClose = (reason) => session.#end(reason);
    connection.onLine = (line) => session.#receive(line);
    try {
      await session.#register();
    } catch (error) {
      session.close();
      throw error;
    }
    return session;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Our nick, which may differ from the requested one. */
  get nick(): string {
    return this.#nick;
  }

  /** Our account. */
  get account(): string | null {
    return this.#account;
  }

  /** Leaves at once. */
  close(): void {
    if (this.#closed) return;
    this.#connection.send("QUIT");
    this.#connection.close();
    this.#end("Closed");
  }

  /**
   * Sends lines and reads the answer until `take` says that it is complete.
   *
   * @throws Unavailable if the connection ends first or the answer takes too long
   */
  async exchange(
    lines: readonly string[],
    take: (message: Message) => boolean,
    milliseconds = ANSWER_MILLISECONDS,
  ): Promise<void> {
    if (this.#closed) throw new Unavailable("The connection to the IRC network was lost");
    if (lines.some((line) => BREAK.test(line))) throw new Error("A line must be one line");
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const cancel = this.#options.scheduler.after(milliseconds, () => {
      reject(new Unavailable("The IRC network did not answer in time"));
      this.close();
    });
    let count = 0;
    this.#fail = reject;
    this.#take = (message) => {
      if (take(message)) return resolve();
      if (++count < MAX_ANSWER_LINES) return;
      reject(new Unavailable("The IRC network's answer is too long"));
      this.close();
    };
    try {
      for (const line of lines) this.#connection.send(line);
      await promise;
    } finally {
      cancel();
      this.#take = null;
      this.#fail = null;
    }
  }

  /**
   * Sends a command to a service and collects the answer, with its formatting. If the server labels
   * the answer, the label marks its end; otherwise the service's later answer to a CTCP PING does.
   *
   * @throws Unavailable if there is no such service
   */
  async converse(service: string, text: string): Promise<string[]> {
    const labelled = this.#capabilities.has("labeled-response");
    const label = `q${++this.#lastToken}`;
    const answer = new ServiceAnswer(service, this.#nick, label);
    const sentinel = `PRIVMSG ${service} :\x01PING ${label}\x01`;
    const question = `PRIVMSG ${service} :${text}`;
    const lines = labelled ? [`@label=${label} ${question}`] : [question, sentinel];
    await this.exchange(lines, (message) => {
      const state = answer.take(message);
      if (state === "acknowledged") this.#connection.send(sentinel);
      return state === "over";
    });
    if (answer.away) throw new Unavailable(`${service} is not on the IRC network at present`);
    return answer.lines;
  }

  /**
   * Sends a command and collects the replies until the server answers a PING after it.
   *
   * @returns the numeric replies and other messages
   */
  async command(line: string): Promise<Message[]> {
    const token = `c${++this.#lastToken}`;
    const replies: Message[] = [];
    await this.exchange([line, `PING ${token}`], (message) => {
      if (message.command === "PONG" && message.params.at(-1) === token) return true;
      replies.push(message);
      return false;
    });
    return replies;
  }

  #receive(line: string): void {
    const message = parseMessage(line);
    if (message === null || this.#closed) return;
    if (message.command === "PING") {
      return this.#connection.send(`PONG :${message.params.at(-1) ?? ""}`);
    }
    if (message.command === "900") this.#account = message.params[2] ?? null;
    if (message.command === "901") this.#account = null;
    if (message.command === "NICK" && isFrom(message, this.#nick)) {
      this.#nick = message.params[0] ?? this.#nick;
    }
    this.#take?.(message);
  }

  #end(reason: string): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#connection.onClose = null;
    this.#connection.onLine = null;
    this.#fail?.(new Unavailable(`The connection to the IRC network was lost: ${reason}`));
    this.onClose?.();
  }

  async #register(): Promise<void> {
    const { nick, serverPassword, login, operator, nickServ, loginOnly } = this.#options;
    const registration = new Registration(this.#options, this.#capabilities);
    const first = ["CAP LS 302", `NICK ${nick}`, "USER muster 0 * :muster"];
    if (serverPassword !== null) first.unshift(`PASS :${serverPassword}`);
    let refused: SessionRefused | null = null;
    await this.exchange(first, (message) => {
      if (message.command === "001") this.#nick = message.params[0] ?? nick;
      const step = registration.take(message);
      if (step instanceof SessionRefused) refused = step;
      else for (const line of step) this.#connection.send(line);
      if (loginOnly === true && message.command === "903") return true;
      return refused !== null || END_OF_GREETING.has(message.command);
    }, REGISTRATION_MILLISECONDS);
    if (refused !== null) throw refused;
    if (login !== null && this.#account === null) {
      await this.converse(nickServ, `IDENTIFY ${login.name} ${login.password}`);
      if (this.#account === null) {
        throw new SessionRefused("login", `The network refused the login to "${login.name}"`);
      }
    }
    if (operator === null) return;
    const replies = await this.command(`OPER ${operator.name} ${operator.password}`);
    if (replies.some(({ command }) => command === "381")) return;
    throw new SessionRefused("operator", `The network refused OPER for "${operator.name}"`);
  }
}

/** The exchange with a server until registration is complete. */
class Registration {
  readonly #options: SessionOptions;
  readonly #enabled: Set<string>;
  readonly #offered = new Set<string>();

  constructor(options: SessionOptions, enabled: Set<string>) {
    this.#options = options;
    this.#enabled = enabled;
  }

  /** Handles a line of the server; returns the lines to answer, or the reason to give up. */
  take({ command, params }: Message): string[] | SessionRefused {
    if (command === "CAP") return this.#negotiate(params);
    if (command === "AUTHENTICATE") return params[0] === "+" ? this.#authenticate() : [];
    if (command === "903") return ["CAP END"];
    if (SASL_REFUSALS.has(command)) {
      const name = this.#options.login?.name ?? "";
      return new SessionRefused("login", `The network refused the login to "${name}"`);
    }
    if (NICK_REFUSALS.has(command)) return this.#otherNick(command, params.at(-1) ?? "");
    return [];
  }

  #negotiate(params: readonly string[]): string[] {
    const names = (params.at(-1) ?? "").split(" ").filter((name) => name !== "");
    switch (params[1]) {
      case "LS": {
        for (const name of names) this.#offered.add(name.split("=")[0] ?? "");
        if (params[2] === "*") return [];
        const wanted = this.#options.login === null
          ? WANTED_CAPABILITIES
          : [...WANTED_CAPABILITIES, "sasl"];
        const requested = wanted.filter((name) => this.#offered.has(name));
        return requested.length === 0 ? ["CAP END"] : [`CAP REQ :${requested.join(" ")}`];
      }
      case "ACK":
        for (const name of names) this.#enabled.add(name);
        return [this.#enabled.has("sasl") ? "AUTHENTICATE PLAIN" : "CAP END"];
      case "NAK":
        return ["CAP END"];
      default:
        return [];
    }
  }

  #authenticate(): string[] {
    const { name, password } = this.#options.login ?? { name: "", password: "" };
    const text = Buffer.from(`\0${name}\0${password}`).toString("base64");
    const chunks: string[] = [];
    for (let start = 0; start <= text.length; start += SASL_CHUNK) {
      chunks.push(text.slice(start, start + SASL_CHUNK));
    }
    return chunks.map((chunk) => `AUTHENTICATE ${chunk === "" ? "+" : chunk}`);
  }

  #otherNick(command: string, reason: string): string[] | SessionRefused {
    const { nick, anyNick } = this.#options;
    if (!anyNick) {
      const what = command === ERRONEOUS_NICK ? "nick" : "taken nick";
      return new SessionRefused(what, `The network refuses the nick "${nick}": ${reason}`);
    }
    return [`NICK muster${crypto.getRandomValues(new Uint16Array(1))[0]}`];
  }
}

/** A service's answer to one question. */
class ServiceAnswer {
  readonly lines: string[] = [];
  away = false;
  readonly #service: string;
  readonly #nick: string;
  readonly #label: string;
  #batch: string | null = null;

  constructor(service: string, nick: string, label: string) {
    this.#service = service;
    this.#nick = nick;
    this.#label = label;
  }

  /** Whether the answer continues, is complete, or is only acknowledged by the server. */
  take(message: Message): "open" | "acknowledged" | "over" {
    const { command, params, tags } = message;
    const ours = tags.get("label") === this.#label;
    if (command === "BATCH") return this.#takeBatch(params, ours);
    if (ours && command === "ACK") return "acknowledged";
    if ((command === "401" || command === "440") && this.#names(params[1])) {
      this.away = true;
      return "over";
    }
    if (command !== "NOTICE" && command !== "PRIVMSG") return "open";
    if (!isFrom(message, this.#service)) return "open";
    if (foldCase(params[0] ?? "") !== foldCase(this.#nick)) return "open";
    const text = params[1] ?? "";
    if (text === `\x01PING ${this.#label}\x01`) return "over";
    if (!text.startsWith("\x01")) this.lines.push(text);
    return ours ? "over" : "open";
  }

  #takeBatch(params: readonly string[], ours: boolean): "open" | "acknowledged" | "over" {
    const [reference = ""] = params;
    if (ours && reference.startsWith("+")) this.#batch = reference.slice(1);
    if (this.#batch === null || reference !== `-${this.#batch}`) return "open";
    return this.lines.length === 0 && !this.away ? "acknowledged" : "over";
  }

  #names(nick: string | undefined): boolean {
    return foldCase(nick ?? "") === foldCase(this.#service.split("@")[0] ?? "");
  }
}

function isFrom({ source }: Message, nick: string): boolean {
  return foldCase(source?.split("!")[0] ?? "") === foldCase(nick.split("@")[0] ?? "");
}
