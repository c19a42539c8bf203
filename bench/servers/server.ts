import type { Address, Login } from "../client/mod.ts";
import { delay } from "../parallel.ts";

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

/** Time limit for a server to listen, in milliseconds. */
const START_LIMIT = 10_000;

const POLL_MILLISECONDS = 20;

/**
 * Waits until a server listens on an address.
 *
 * @throws the runtime's error if nothing listens after a while
 */
export async function untilListening(address: Deno.ConnectOptions): Promise<void> {
  for (let waited = 0;; waited += POLL_MILLISECONDS) {
    try {
      return (await Deno.connect(address)).close();
    } catch (error) {
      if (waited >= START_LIMIT) throw error;
      await delay(POLL_MILLISECONDS);
    }
  }
}
