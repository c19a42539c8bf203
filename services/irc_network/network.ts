/** An IRC network that muster does not run itself, as the registry of agents sees it. */

/** An account as the network tells of it. */
export interface NetworkAccount {
  readonly account: string;
  /** Whether nobody can log in to it; null where the network does not tell. */
  readonly suspended: boolean | null;
  /** The instance of muster whose mark it bears; null where it bears none, and in lists. */
  readonly owner: string | null;
}

/** A right that the network does not give to muster. */
export interface MissingRight {
  /** Its name in the configuration of the network. */
  readonly name: string;
  /** What cannot be done without it: changes of accounts, or of statuses in channels. */
  readonly stops: "accounts" | "channels";
}

/** What a channel gives to members who are logged in to an account. */
export type NetworkStatus = "operator" | "voice";

/**
 * The accounts of an IRC network. Each change can be made again: where the network is already as it
 * is asked to be, nothing happens.
 *
 * Every method rejects with Unavailable where the network cannot be reached, does not answer in
 * time, or refuses us. A change may have happened all the same. No method rejects with another error
 * than those that are named here and with it.
 */
export interface NetworkAccounts {
  /** Whether {@link verify} costs so little that it can be asked of every account. */
  readonly verifiesCheaply: boolean;
  /**
   * Makes an account, which bears our mark.
   *
   * @returns "exists" where there is an account of this name, or one that cannot be had, and nothing
   * was changed
   * @throws Conflict where the network takes no such name, Invalid where it takes no such passphrase
   */
  register(account: string, passphrase: string): Promise<"created" | "exists">;
  /**
   * Replaces the passphrase of an account and ends its sessions.
   *
   * @throws NotFound where there is no such account
   */
  setPassphrase(account: string, passphrase: string): Promise<void>;
  /**
   * Puts our mark on an account that bears none.
   *
   * @param passphrase its passphrase, where it is known
   * @returns false where the network does not let us
   * @throws NotFound where there is no such account
   */
  mark(account: string, passphrase: string | null): Promise<boolean>;
  /** Whether the account can be logged in to with this passphrase. */
  verify(account: string, passphrase: string): Promise<boolean>;
  /**
   * Lets nobody log in to an account any more, and ends its sessions.
   *
   * @throws NotFound where there is no such account
   */
  suspend(account: string, reason: string): Promise<void>;
  /**
   * Takes back what {@link suspend} did.
   *
   * @throws NotFound where there is no such account
   */
  unsuspend(account: string): Promise<void>;
  /** Removes an account, frees its nick and ends its sessions. */
  remove(account: string): Promise<void>;
  /** The account on the network, whatever the case of its name; null if there is none. */
  find(account: string): Promise<NetworkAccount | null>;
  /** Every account that the network tells of; null where it tells of none. */
  list(): Promise<readonly NetworkAccount[] | null>;
  /**
   * Sets what a channel gives to the members of an account, at once and from now on.
   *
   * @returns false where the channel is not registered, and so keeps nothing
   * @throws Conflict where we may not set it
   */
  setChannelStatus(
    channel: string,
    account: string,
    status: NetworkStatus | null,
  ): Promise<boolean>;
  /** How often the operator's connection was made; null while there is none. */
  readonly session: number | null;
  /** Asks the network, with commands that change nothing, which of our rights are missing. */
  missingRights(): Promise<readonly MissingRight[]>;
  /** Ends what is under way, which then rejects with Unavailable, as does all that comes after. */
  close(): Promise<void>;
}

/**
 * An operator's connection to the network, over which its services are asked. It connects when it is
 * first asked, stays, and comes back by itself.
 */
export interface ServicesConsole {
  /**
   * Says something to a service and gathers what it answers. Questions are asked one by one.
   *
   * @param service its nick, such as `NickServ`
   * @param command one line without control characters
   * @returns the lines of its notices, without formatting
   * @throws Unavailable where the network cannot be reached or the service does not answer in time
   */
  ask(service: string, command: string): Promise<readonly string[]>;
  /** How often it has connected; null while it is not connected. */
  readonly session: number | null;
  close(): Promise<void>;
}
