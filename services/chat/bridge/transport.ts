import { EventEmitter } from "node:events";
import type { Transport } from "./irc_framework.d.ts";

/** A connection to an IRC server that carries whole lines, without CR LF. */
export interface LineConnection {
  send(line: string): void;
  /** Called for each line of the server, in order. */
  onLine: ((line: string) => void) | null;
  /** Called once, after the last line, with the reason. */
  onClose: ((reason: string) => void) | null;
  close(): void;
  readonly closed: boolean;
}

/**
 * Opens a connection, synchronously to the server in this process. Throws or rejects if that fails.
 */
export type Connect = () => LineConnection | Promise<LineConnection>;

/**
 * Makes the class that irc-framework takes as its `transport`, over connections of this kind.
 *
 * @param onFailure gets what handling a line threw; the next line is handled all the same
 */
export function transportOver(
  connect: Connect,
  onFailure: (error: unknown) => void,
): new () => Transport {
  return class extends LineTransport {
    constructor() {
      super(connect, onFailure);
    }
  };
}

/** Carries the lines of irc-framework over a {@linkcode LineConnection}. */
class LineTransport extends EventEmitter implements Transport {
  readonly #connect: Connect;
  readonly #onFailure: (error: unknown) => void;
  readonly #filter = new LineFilter();
  #connection: LineConnection | null = null;
  #ended = false;

  constructor(connect: Connect, onFailure: (error: unknown) => void) {
    super();
    this.#connect = connect;
    this.#onFailure = onFailure;
  }

  connect(): void {
    this.#open().catch((error: unknown) => this.#end(error));
  }

  writeLine(line: string, callback?: () => void): void {
    this.#connection?.send(line);
    if (callback !== undefined) queueMicrotask(callback);
  }

  isConnected(): boolean {
    return this.#connection !== null;
  }

  close(): void {
    if (this.#connection === null) queueMicrotask(() => this.#end());
    else this.#connection.close();
  }

  disposeSocket(): void {
    this.#ended = true;
    this.#connection?.close();
    this.#connection = null;
  }

  /** IRC is UTF-8 here; the connection has already decoded it. */
  setEncoding(encoding: string): boolean {
    return encoding === "utf8";
  }

  async #open(): Promise<void> {
    const connection = await this.#connect();
    if (this.#ended) return connection.close();
    if (connection.closed) throw new Error("The connection closed at once");
    this.#connection = connection;
    connection.onClose = (reason) => this.#end(new Error(reason));
    this.emit("open");
    connection.onLine = (line) => this.#take(line);
  }

  #take(line: string): void {
    if (this.#ended) return;
    try {
      if (!this.#filter.admits(line)) return;
    } catch (error) {
      this.#onFailure(error);
      return this.close();
    }
    try {
      this.emit("line", line);
    } catch (error) {
      this.#onFailure(error);
    }
  }

  #end(error?: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#connection = null;
    this.emit("close", error);
  }
}

/** Most lines of one list, or of open batches, that the IRC client may have to buffer. */
const MAX_KEPT_LINES = 20_000;

/** Most batches open at once. */
const MAX_BATCHES = 100;

/** The messages that the bridge uses; the IRC client collects many others, some without a bound. */
const COMMANDS = new Set([
  ..."001 002 004 005 331 332 353 366 376 396 421 422".split(" "),
  ..."AUTHENTICATE BATCH CAP ERROR FAIL INVITE JOIN KICK MODE NICK".split(" "),
  ..."NOTICE PART PING PONG PRIVMSG QUIT REDACT TOPIC".split(" "),
]);

/** Refusals of any kind, and results of logins. */
const REFUSAL_OR_LOGIN = /^(?:[45]\d\d|90\d)$/;

/**
 * Keeps unused messages away from the IRC client, and ends a connection that would make it buffer
 * without bound.
 */
class LineFilter {
  readonly #batches = new Set<string>();
  #kept = 0;

  /**
   * Whether to pass a line to the client.
   *
   * @throws Error if it would have to buffer too much
   */
  admits(line: string): boolean {
    const { tags, command, rest } = headOf(line);
    if (!COMMANDS.has(command) && !REFUSAL_OR_LOGIN.test(command)) return false;
    if (command === "BATCH") this.#countBatch(rest.split(" ")[0] ?? "");
    else if (command === "353" || hasTag(tags, "batch")) this.#kept++;
    if (command === "366" && this.#batches.size === 0) this.#kept = 0;
    if (this.#kept <= MAX_KEPT_LINES && this.#batches.size <= MAX_BATCHES) return true;
    throw new Error("The IRC server sends a list without an end");
  }

  #countBatch(reference: string): void {
    if (reference.startsWith("+")) this.#batches.add(reference.slice(1));
    else this.#batches.delete(reference.slice(1));
    if (this.#batches.size === 0) this.#kept = 0;
  }
}

/**
 * The head of a server's line. Only the space U+0020 separates the parts of a line
 * (modern.ircdocs.horse "Message format"); all other white space and line ends of Unicode are text.
 */
interface LineHead {
  /** The text between `@` and the space, with escapes; empty if there are no tags. */
  readonly tags: string;
  /** As the server writes it. */
  readonly command: string;
  /** The text after the command. */
  readonly rest: string;
}

const SPACE = 0x20;
const AT = 0x40;
const COLON = 0x3a;

/** Parses the head of a line. Never throws. */
export function headOf(line: string): LineHead {
  let position = skipSpaces(line, 0);
  let tags = "";
  if (line.charCodeAt(position) === AT) {
    const end = endOfWord(line, position);
    tags = line.slice(position + 1, end);
    position = skipSpaces(line, end);
  }
  if (line.charCodeAt(position) === COLON) {
    position = skipSpaces(line, endOfWord(line, position));
  }
  const end = endOfWord(line, position);
  return { tags, command: line.slice(position, end), rest: line.slice(skipSpaces(line, end)) };
}

/** Whether there is a tag of this name that has a value. */
export function hasTag(tags: string, name: string): boolean {
  return tags.startsWith(`${name}=`) || tags.includes(`;${name}=`);
}

function skipSpaces(line: string, from: number): number {
  let position = from;
  while (line.charCodeAt(position) === SPACE) position++;
  return position;
}

function endOfWord(line: string, from: number): number {
  const end = line.indexOf(" ", from);
  return end === -1 ? line.length : end;
}
