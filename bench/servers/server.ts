import type { Address, Login } from "../client/mod.ts";

/** An IRC server in a separate process, to be measured. */
export interface IrcServerProcess extends AsyncDisposable {
  readonly irc: Address;
  readonly pid: number;
  /** The capabilities that clients request if tags are on; empty if the server has none. */
  readonly capabilities: readonly string[];
  /** Prepares logins for the nicks, with accounts if the server keeps accounts. */
  createLogins(nicks: readonly string[]): Promise<Login[]>;
}

/** A kind of server, and how to start it. */
export interface IrcServerKind {
  readonly name: string;
  start(): Promise<IrcServerProcess>;
}
