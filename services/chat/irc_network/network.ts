/** An external IRC network, for the registry of agents. */

/** An account on the network. */
export interface NetworkAccount {
  readonly account: string;
  /** Whether nobody can log in to it; null if the network does not say. */
  readonly suspended: boolean | null;
  /** The instance of muster in its mark; null if it has none, and in lists. */
  readonly owner: string | null;
}

/** A right that the network does not grant muster. */
export interface MissingRight {
  /** Its name in the configuration of the network. */
  readonly name: string;
  /** What it is needed for: changes of accounts, or of statuses in channels. */
  readonly stops: "accounts" | "channels";
}

/** The status that a channel gives members who are logged in to an account. */
export type NetworkStatus = "operator" | "voice";

/**
 * The accounts of an IRC network. Each change is idempotent.
 *
 * Every method rejects with Unavailable if the network cannot be reached, does not answer in time,
 * or refuses us; the change may still have happened. Methods reject only with this error and those
 * named with them.
 */
export interface NetworkAccounts {
  /** Whether {@link verify} is cheap enough to call for every account. */
  readonly verifiesCheaply: boolean;
  /**
   * Creates an account with our mark.
   *
   * @returns "exists" if the name is taken or not available, and nothing was changed
   * @throws Conflict if the network does not accept the name, Invalid if it does not accept the
   * passphrase
   */
  register(account: string, passphrase: string): Promise<"created" | "exists">;
  /**
   * Replaces the passphrase of an account and ends its sessions.
   *
   * @throws NotFound if there is no such account
   */
  setPassphrase(account: string, passphrase: string): Promise<void>;
  /**
   * Marks an unmarked account as ours.
   *
   * @param passphrase its passphrase, if it is known
   * @returns false if the network does not allow it
   * @throws NotFound if there is no such account
   */
  mark(account: string, passphrase: string | null): Promise<boolean>;
  /** Whether the passphrase logs in to the account. */
  verify(account: string, passphrase: string): Promise<boolean>;
  /**
   * Blocks logins to an account, and ends its sessions.
   *
   * @throws NotFound if there is no such account
   */
  suspend(account: string, reason: string): Promise<void>;
  /**
   * Reverses {@link suspend}.
   *
   * @throws NotFound if there is no such account
   */
  unsuspend(account: string): Promise<void>;
  /** Removes an account, frees its nick and ends its sessions. */
  remove(account: string): Promise<void>;
  /** The account on the network, whatever the case of its name; null if there is none. */
  find(account: string): Promise<NetworkAccount | null>;
  /** Every account that the network lists; null if it has no list. */
  list(): Promise<readonly NetworkAccount[] | null>;
  /**
   * Sets the status that a channel gives an account, at once and for later.
   *
   * @returns false if the channel is not registered, and so stores nothing
   * @throws Conflict if we may not set it
   */
  setChannelStatus(
    channel: string,
    account: string,
    status: NetworkStatus | null,
  ): Promise<boolean>;
  /** How often the operator has connected; null while not connected. */
  readonly session: number | null;
  /** Finds our missing rights on the network, with commands that change nothing. */
  missingRights(): Promise<readonly MissingRight[]>;
  /** Cancels running calls. They and all later ones reject with Unavailable. */
  close(): Promise<void>;
}

/**
 * An operator's connection to the network's services. It connects at the first question, stays
 * open, and reconnects on its own.
 */
export interface ServicesConsole {
  /**
   * Sends a command to a service and collects the answer. Questions run one at a time.
   *
   * @param service its nick, such as `NickServ`
   * @param command one line without control characters
   * @returns the lines of its notices, without formatting
   * @throws Unavailable if the network cannot be reached or the service does not answer in time
   */
  ask(service: string, command: string): Promise<readonly string[]>;
  /** How often it has connected; null while it is not connected. */
  readonly session: number | null;
  close(): Promise<void>;
}
