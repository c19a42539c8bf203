import type { IrcSession } from "./session.ts";
import type { NetworkStatus } from "./network.ts";

/** What NickServ tells of an account. */
export interface AccountInfo {
  /** Its name; where a nick was asked for, the account that owns the nick. */
  readonly account: string;
  readonly suspended: boolean;
  /** Its mail address, where NickServ tells it. */
  readonly address: string | null;
  /** Nicks that are logged in to it, as far as NickServ tells. */
  readonly online: readonly string[];
}

/** How a package of services is spoken to, and how it answers. */
export interface ServicesDialect {
  /** Its name, for people. */
  readonly name: string;
  /** Said to NickServ after each login of the operator, so that it answers in English. */
  readonly greeting: readonly string[];
  /**
   * Reads the answer to `INFO`, without formatting.
   *
   * @returns null where there is no such account, "unclear" where the answer does not tell
   */
  readInfo(lines: readonly string[]): AccountInfo | null | "unclear";
  /**
   * Said by the operator about a new account, so that it neither waits for a mail nor ends when it
   * is not used; a network where a command is unknown needs it not, or does without.
   */
  settle(account: string): readonly string[];
  suspend(account: string, reason: string): string;
  unsuspend(account: string): string;
  remove(account: string): readonly string[];
  /**
   * Gives an account another mail address; whether that worked is seen in its `INFO`.
   *
   * @param passphrase the passphrase of the account, where it is known
   */
  setAddress(
    desk: ServicesDesk,
    account: string,
    address: string,
    passphrase: string | null,
  ): Promise<void>;
  /** Replaces a passphrase; whether that worked is seen by logging in with it. */
  setPassphrase(desk: ServicesDesk, account: string, passphrase: string): Promise<void>;
  /**
   * Commands for NickServ that change nothing, as they are about an account that cannot be, each with
   * the right that services ask for before they look for the account.
   */
  readonly probes: Readonly<Record<string, string>>;
  /** The ChanServ command that gives an account this status in a channel; null takes it away. */
  channelStatus(channel: string, account: string, status: NetworkStatus | null): readonly string[];
}

/** Where services are spoken to. */
export interface ServicesDesk {
  /** The nick of NickServ. */
  readonly nickServ: string;
  /** Says something to NickServ as an operator; gives its answer with the formatting. */
  converse(command: string): Promise<readonly string[]>;
  /** Logs in to an account; null where the network refuses the passphrase. */
  logIn(account: string, passphrase: string): Promise<IrcSession | null>;
}
