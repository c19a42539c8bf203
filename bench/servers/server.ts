import type { Address, Login } from "../client/mod.ts";

/** An IRC server that runs as a process of its own, to be measured. */
export interface IrcServerProcess extends AsyncDisposable {
  readonly irc: Address;
  readonly pid: number;
  /** What clients ask for if tags are on; empty if the server has none of them. */
  readonly capabilities: readonly string[];
  /** Makes the nicks ready to connect, with accounts if the server keeps accounts. */
  createLogins(nicks: readonly string[]): Promise<Login[]>;
}

/** A kind of server, and how to start one of it. */
export interface IrcServerKind {
  readonly name: string;
  start(): Promise<IrcServerProcess>;
}
