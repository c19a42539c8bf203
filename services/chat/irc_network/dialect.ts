import type { IrcSession } from "./session.ts";
import type { NetworkStatus } from "./network.ts";

/** NickServ's information about an account. */
export interface AccountInfo {
  /** Its name; for a query about a nick, the account that owns the nick. */
  readonly account: string;
  readonly suspended: boolean;
  /** Its email address, if NickServ shows it. */
  readonly address: string | null;
  /** Nicks that are logged in to it, as far as NickServ shows them. */
  readonly online: readonly string[];
}

/** The commands of a services package, and the forms of its answers. */
export interface ServicesDialect {
  /** Its name, for people. */
  readonly name: string;
  /** Sent to NickServ after each login of the operator, so that it answers in English. */
  readonly greeting: readonly string[];
  /**
   * Parses the answer to `INFO`, without formatting.
   *
   * @returns null if there is no such account, "unclear" if the answer does not say
   */
  readInfo(lines: readonly string[]): AccountInfo | null | "unclear";
  /**
   * The operator's commands for a new account, so that it needs no email confirmation and does not
   * expire. If a network does not know a command, it is not needed there, or is skipped.
   */
  settle(account: string): readonly string[];
  suspend(account: string, reason: string): string;
  unsuspend(account: string): string;
  remove(account: string): readonly string[];
  /**
   * Sets an account's email address; check the result with `INFO`.
   *
   * @param passphrase the passphrase of the account, if known
   */
  setAddress(
    desk: ServicesDesk,
    account: string,
    address: string,
    passphrase: string | null,
  ): Promise<void>;
  /** Replaces a passphrase; check the result by logging in with it. */
  setPassphrase(desk: ServicesDesk, account: string, passphrase: string): Promise<void>;
  /**
   * Commands for NickServ that change nothing, because they name an impossible account, each with
   * the right that services check before they look for the account.
   */
  readonly probes: Readonly<Record<string, string>>;
  /** The ChanServ command that gives an account this status in a channel; null removes it. */
  channelStatus(channel: string, account: string, status: NetworkStatus | null): readonly string[];
}

/** A connection to services. */
export interface ServicesDesk {
  /** The nick of NickServ. */
  readonly nickServ: string;
  /** Sends a command to NickServ as an operator; returns its answer with the formatting. */
  converse(command: string): Promise<readonly string[]>;
  /** Logs in to an account; null if the network refuses the passphrase. */
  logIn(account: string, passphrase: string): Promise<IrcSession | null>;
}
