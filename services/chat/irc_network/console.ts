import { Unavailable } from "../../kernel/errors.ts";
import { foldCase, type Message } from "../../engines/irc/mod.ts";
import type { Log } from "../../kernel/log.ts";
import { Semaphore } from "../../kernel/semaphore.ts";
import type { ServicesConsole } from "./network.ts";
import { IrcSession, type SessionOptions } from "./session.ts";

/** Most questions that wait while one is asked; one more is refused. */
const MAX_WAITING = 255;

/** How long questions are refused after a failed attempt to connect. */
const RETRY_MILLISECONDS = 1000;

/** A control character, with the colours that may follow one. */
const CONTROL = /(\p{Cc})(\d{1,2}(?:,\d{1,2})?)?/gu;

const COLOUR = "\x03";

/** Characters that no server accepts in a nick. */
const NO_NICK = "*";

export interface ConsoleOptions extends Omit<SessionOptions, "anyNick"> {
  /** Sent to NickServ after each login; the answer is ignored. */
  readonly greeting?: readonly string[];
  readonly log: Log;
}

/** Removes bold, colours and other formatting from a line. */
export function stripFormatting(line: string): string {
  return line.replace(CONTROL, (_, control, digits = "") => control === COLOUR ? "" : digits);
}

/**
 * {@linkcode ServicesConsole} over a connection of its own, with further commands of an operator.
 */
export class IrcConsole implements ServicesConsole {
  readonly #options: ConsoleOptions;
  #session: IrcSession | null = null;
  #connections = 0;
  /** One question is asked at a time. */
  readonly #asking = new Semaphore({
    permits: 1,
    maxWaiting: MAX_WAITING,
    refusal: () => new Unavailable("Too many questions wait for the IRC network"),
  });
  #failedAt: number | null = null;
  #closed = false;

  constructor(options: ConsoleOptions) {
    this.#options = options;
  }

  get session(): number | null {
    return this.#session === null ? null : this.#connections;
  }

  async ask(service: string, command: string): Promise<readonly string[]> {
    const lines = await this.converse(service, command);
    return lines.map(stripFormatting);
  }

  /** Like {@link ask}, but keeps the formatting of the lines. */
  converse(service: string, command: string): Promise<string[]> {
    return this.#run((session) => session.converse(service, command));
  }

  /**
   * The nicks that are logged in to an account, as far as the server shows them.
   *
   * @param guesses further nicks to check
   * @throws Unavailable
   */
  async sessionsOf(account: string, guesses: readonly string[]): Promise<string[]> {
    const who = await this.#command(`WHO ${account} a%na`);
    const known = new Map<string, string>();
    const unsure = new Map(guesses.map((nick) => [foldCase(nick), nick]));
    for (const { command, params } of who) {
      const [, nick = "", owner = ""] = params;
      if (command === "354" && isSame(owner, account)) known.set(foldCase(nick), nick);
      if (command === "352") unsure.set(foldCase(params[5] ?? ""), params[5] ?? "");
    }
    for (const [key, nick] of unsure) {
      if (nick === "" || known.has(key)) continue;
      const replies = await this.#command(`WHOIS ${nick}`);
      if (replies.some((reply) => tellsAccount(reply, account))) known.set(key, nick);
    }
    return [...known.values()];
  }

  /**
   * Ends the connection of a user, if there is one.
   *
   * @throws Unavailable if we may not
   */
  async end(nick: string, reason: string): Promise<void> {
    const replies = await this.#command(`KILL ${nick} :${reason}`);
    const refusal = replies.find(({ command }) => command === "481" || command === "483");
    if (refusal === undefined) return;
    throw new Unavailable(`The network does not let muster end sessions: ${refusal.params.at(-1)}`);
  }

  /** Whether the server lets us end connections; tested with an impossible nick. */
  async mayEnd(): Promise<boolean> {
    const replies = await this.#command(`KILL ${NO_NICK} :Checking rights`);
    return !replies.some(({ command }) => command === "481");
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#session?.close();
    await this.#asking.idle();
  }

  #command(line: string): Promise<Message[]> {
    return this.#run((session) => session.command(line));
  }

  /** Runs a task after all earlier ones. */
  async #run<T>(task: (session: IrcSession) => Promise<T>): Promise<T> {
    using _permit = await this.#asking.acquire();
    return await task(await this.#open());
  }

  async #open(): Promise<IrcSession> {
    if (this.#closed) throw new Unavailable("The server is shutting down");
    if (this.#session !== null) return this.#session;
    const { scheduler, log } = this.#options;
    if (this.#failedAt !== null && scheduler.now() - this.#failedAt < RETRY_MILLISECONDS) {
      throw new Unavailable("The IRC network could not be reached a moment ago");
    }
    try {
      const session = await this.#connect();
      this.#failedAt = null;
      log.info("The operator's connection to the IRC network is up");
      return session;
    } catch (error) {
      this.#failedAt = scheduler.now();
      const reason = error instanceof Error ? error.message : String(error);
      log.warn("The operator's connection to the IRC network is down", { reason });
      throw error;
    }
  }

  async #connect(): Promise<IrcSession> {
    const { greeting = [], nickServ } = this.#options;
    const session = await IrcSession.open({ ...this.#options, anyNick: true });
    for (const words of greeting) await session.converse(nickServ, words);
    if (this.#closed) session.close();
    if (session.closed) throw new Unavailable("The connection to the IRC network was lost");
    session.onClose = () => this.#session = null;
    this.#session = session;
    this.#connections++;
    return session;
  }
}

function tellsAccount({ command, params }: Message, account: string): boolean {
  return command === "330" && isSame(params[2] ?? "", account);
}

function isSame(one: string, other: string): boolean {
  return foldCase(one) === foldCase(other);
}
