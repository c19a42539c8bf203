import type { Statement } from "../database/mod.ts";
import { NotFound } from "../errors.ts";
import { newSecret } from "../identity/mod.ts";

/** An account that is to be changed where it is used. */
export interface Provisioned {
  /** Its internal id. */
  readonly id: string;
  readonly name: string;
  /** The channels of an agent, where they are new. */
  readonly channels?: readonly string[];
}

/** What the transaction takes in that makes a change known here. */
export interface AccountChange {
  /** The name as IRC has it. */
  readonly name: string;
  /** What the account is logged in to with from now on, where that is changed. */
  readonly passphrase: string;
  readonly statements: readonly Statement[];
}

/** Writes a change into the database and tells everybody in this process about it. */
export type WriteChange = (change: AccountChange) => Promise<void>;

/**
 * Brings changes of accounts to where they are used: an IRC server in this process asks the
 * database, a network has accounts of its own. A change is over when both sides have it. One that
 * fails has changed nothing, and what it left behind on a network is taken back.
 *
 * Every method rejects with what `write` rejects with; where IRC is a network also with Unavailable,
 * if that cannot be reached, and with Conflict, if it refuses.
 */
export interface Provisioning {
  /**
   * Makes an account.
   *
   * @param password what its owner chose; null for a passphrase that is made here
   * @returns the password or the passphrase
   */
  register(account: Provisioned, password: string | null, write: WriteChange): Promise<string>;
  /**
   * Gives an account another passphrase and ends the sessions that began with the old one.
   *
   * @returns the new passphrase
   */
  rotate(account: Provisioned, write: WriteChange): Promise<string>;
  /** Lets nobody log in to an account any more, and ends its sessions. */
  suspend(account: Provisioned, write: WriteChange): Promise<void>;
  /** Removes an account, frees its nick and ends its sessions. */
  remove(account: Provisioned, reason: string, write: WriteChange): Promise<void>;
  /**
   * Takes over an account with its password.
   *
   * @param known whether it has a record here
   * @throws NotFound where there is no such account
   */
  adopt(account: Provisioned, known: boolean, write: WriteChange): Promise<void>;
}

/** The live sessions on IRC, as far as they are known here. */
export interface Sessions {
  /** Closes every live session of the account and says how many there were. */
  disconnectAccount(account: string, reason: string): number;
  /** Renames a client that uses the nick of a new account without being logged in to it. */
  freeNick(account: string): void;
  /** Forgets what was said to the account and by it. */
  forgetAccount(account: string): void;
  isOnline(account: string): boolean;
  /** Removes `+o` from users who joined these channels first; the channels now belong to muster. */
  claimChannels(channels: readonly string[]): void;
}

/** Provisioning for the IRC server in this process, which has no accounts of its own. */
export class EmbeddedProvisioning implements Provisioning {
  readonly #sessions: Omit<Sessions, "isOnline">;

  constructor(sessions: Omit<Sessions, "isOnline">) {
    this.#sessions = sessions;
  }

  async register(
    { name, channels = [] }: Provisioned,
    password: string | null,
    write: WriteChange,
  ): Promise<string> {
    const passphrase = password ?? newSecret();
    await write({ name, passphrase, statements: [] });
    this.#sessions.freeNick(name);
    this.#sessions.claimChannels(channels);
    return passphrase;
  }

  async rotate({ name }: Provisioned, write: WriteChange): Promise<string> {
    const passphrase = newSecret();
    await write({ name, passphrase, statements: [] });
    this.#sessions.disconnectAccount(name, "Passphrase changed");
    return passphrase;
  }

  async suspend({ name }: Provisioned, write: WriteChange): Promise<void> {
    await this.#end(name, "Agent revoked", write);
  }

  async remove({ name }: Provisioned, reason: string, write: WriteChange): Promise<void> {
    await this.#end(name, reason, write);
  }

  async adopt(
    { name, channels = [] }: Provisioned,
    known: boolean,
    write: WriteChange,
  ): Promise<void> {
    if (!known) throw new NotFound(`There is no IRC account "${name}"`);
    await write({ name, passphrase: "", statements: [] });
    this.#sessions.freeNick(name);
    this.#sessions.claimChannels(channels);
  }

  async #end(name: string, reason: string, write: WriteChange): Promise<void> {
    await write({ name, passphrase: "", statements: [] });
    this.#sessions.disconnectAccount(name, reason);
    this.#sessions.forgetAccount(name);
  }
}
