/** Types of the parts of irc-framework 4.14 that the bridge uses; it has none of its own. */

import type { EventEmitter } from "node:events";

/** The properties of every message from the network; a malformed line leaves some undefined. */
interface Sourced {
  /** Empty for a message from a server. */
  readonly nick: string;
  readonly ident: string;
  readonly hostname: string;
}

interface ChannelMessageEvent extends Sourced {
  readonly target: string;
  /** The prefix of a STATUSMSG target, such as `@`. */
  readonly group?: string;
  readonly message: string;
  readonly tags: Readonly<Record<string, string | undefined>>;
  /** Unix milliseconds, from server-time. */
  readonly time: number | undefined;
  readonly batch?: { readonly id: string; readonly type: string };
}

/** The events of a client and their arguments. */
export interface ClientEvents {
  /** The end of the message of the day, or its absence. */
  motd: unknown;
  close: boolean;
  /** The transport ended, with an error if it failed. */
  "socket close": Error | undefined;
  /** The server refused something; with error `irc`, it closes the connection (ERROR). */
  "irc error": { readonly error: string; readonly reason?: string | undefined };
  loggedin: { readonly account: string | undefined };
  loggedout: unknown;
  /**
   * The reason: `fail`, `nick_locked`, `too_long`, or one that says that the server offers no such
   * login.
   */
  "sasl failed": { readonly reason: string };
  /** A user's visible host changed. */
  "displayed host": { readonly nick: string; readonly hostname: string };
  raw: { readonly line: string; readonly from_server: boolean };
  "nick in use": { readonly nick: string | undefined };
  join: Sourced & {
    readonly channel: string | undefined;
    /** With extended-join: the account, false for none. */
    readonly account?: string | false | undefined;
  };
  part: Sourced & { readonly channel: string | undefined };
  kick: Sourced & { readonly channel: string | undefined; readonly kicked: string | undefined };
  quit: Sourced;
  nick: Sourced & { readonly new_nick: string | undefined };
  userlist: {
    readonly channel: string | undefined;
    readonly users: readonly { readonly nick: string }[];
  };
  topic: { readonly channel: string | undefined; readonly topic: string };
  invite: Sourced & { readonly invited: string | undefined; readonly channel: string | undefined };
  privmsg: ChannelMessageEvent;
  notice: ChannelMessageEvent;
  action: ChannelMessageEvent;
  "batch end labeled-response": { readonly id: string };
  "batch end chathistory": {
    readonly id: string;
    readonly commands: readonly Pick<ParsedLine, "command" | "tags">[];
  };
}

/** A parsed line. */
export interface ParsedLine {
  readonly command: string;
  readonly params: readonly string[];
  readonly tags: Readonly<Record<string, string | undefined>>;
}

/**
 * A connection to a server. Emits `open`, `line` with a line, and `close` with an error if it
 * failed.
 */
export interface Transport extends EventEmitter {
  connect(): void;
  writeLine(line: string, callback?: () => void): void;
  isConnected(): boolean;
  close(): void;
  disposeSocket(): void;
  setEncoding(encoding: string): boolean;
}

export interface ClientOptions {
  nick: string;
  username: string;
  gecos: string;
  transport: new () => Transport;
  auto_reconnect: boolean;
  enable_echomessage: boolean;
  /** Seconds between PINGs to the server; 0 sends none. */
  ping_interval: number;
  /** Seconds of silence from the server after which the connection is closed; 0 for never. */
  ping_timeout: number;
  /** Answer to CTCP VERSION; null gives none. */
  version: string | null;
  /** For PASS; empty if the server requires none. */
  password: string;
  /** Credentials for SASL PLAIN; without a name there is no login. */
  account: { readonly account?: string; readonly password?: string };
  /** Whether a refused login ends the connection. */
  sasl_disconnect_on_fail: boolean;
}

export class Client {
  constructor(options: ClientOptions);
  readonly user: { readonly nick: string };
  readonly network: {
    readonly cap: {
      isEnabled(capability: string): boolean;
      /** The capabilities that the server offers, with values. */
      readonly available: ReadonlyMap<string, string>;
    };
    /** The value of an ISUPPORT token; true if it has none. */
    supports(token: string): string | true | undefined;
  };
  requestCap(capability: string): void;
  on<Event extends keyof ClientEvents>(
    event: Event,
    listener: (payload: ClientEvents[Event]) => void,
  ): void;
  connect(): void;
  join(channel: string): void;
  part(channel: string, reason?: string): void;
  /** Sends a line unchanged. */
  raw(line: string): void;
  quit(reason: string): void;
}

export function ircLineParser(line: string): ParsedLine;
