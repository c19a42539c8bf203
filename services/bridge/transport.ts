import { EventEmitter } from "node:events";
import type { Transport } from "./irc_framework.d.ts";
import { LineFilter } from "./line_filter.ts";
import type { PlainLines } from "./plain_lines.ts";

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

export interface TransportOptions {
  /** Opens a connection. */
  readonly connect: Connect;
  /** Takes lines that irc-framework need not read. */
  readonly plain: Pick<PlainLines, "take">;
  /** Gets what handling a line threw; the next line is handled all the same. */
  readonly onFailure: (error: unknown) => void;
}

/** Makes the class that irc-framework takes as its `transport`, over connections of this kind. */
export function transportOver(options: TransportOptions): new () => Transport {
  return class extends LineTransport {
    constructor() {
      super(options);
    }
  };
}

/** Carries the lines of irc-framework over a {@linkcode LineConnection}. */
class LineTransport extends EventEmitter implements Transport {
  readonly #options: TransportOptions;
  readonly #filter = new LineFilter();
  #connection: LineConnection | null = null;
  #ended = false;

  constructor(options: TransportOptions) {
    super();
    this.#options = options;
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
    const connection = await this.#options.connect();
    if (this.#ended) return connection.close();
    if (connection.closed) throw new Error("The connection closed at once");
    this.#connection = connection;
    connection.onClose = (reason) => this.#end(new Error(reason));
    this.emit("open");
    connection.onLine = (line) => this.#take(line);
  }

  #take(line: string): void {
    if (this.#ended) return;
    const { plain, onFailure } = this.#options;
    try {
      if (plain.take(line)) return;
    } catch (error) {
      return onFailure(error);
    }
    try {
      if (!this.#filter.admits(line)) return;
    } catch (error) {
      onFailure(error);
      return this.close();
    }
    try {
      this.emit("line", line);
    } catch (error) {
      onFailure(error);
    }
  }

  #end(error?: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#connection = null;
    this.emit("close", error);
  }
}
