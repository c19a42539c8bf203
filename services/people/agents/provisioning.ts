import type { Statement } from "../../engines/database/mod.ts";
import { NotFound } from "../../kernel/errors.ts";
import { newSecret } from "../identity/mod.ts";

/** An account to be changed on its network or server. */
export interface Provisioned {
  /** Its internal id. */
  readonly id: string;
  readonly name: string;
  /** The channels of an agent, if they change. */
  readonly channels?: readonly string[];
}

/**
 * A change of an account that has been made on IRC but not yet here. It has three steps: prepare
 * it, commit its statements, settle it.
 *
 *     using change = await provisioning.rotate(account);
 *     await database.commit({ statements: [...change.statements] });
 *     change.settle();
 *
 * No other change of the account starts before this one is settled or disposed. Disposing an
 * unsettled change undoes it.
 */
export interface AccountChange extends Disposable {
  /** The name on IRC. */
  readonly name: string;
  /** The new passphrase of the account; "" if the change has none. */
  readonly passphrase: string;
  /** Statements to commit together with the change. */
  readonly statements: readonly Statement[];
  /** Completes a committed change, and applies it to live sessions. */
  settle(): void;
}

/**
 * Prepares changes of accounts on IRC. The IRC server in this process uses the database, so there
 * is nothing to prepare. A network has accounts of its own.
 *
 * On a network, every method rejects with Unavailable if the network cannot be reached, and with
 * Conflict if it refuses. A failed change is undone on the network.
 */
export interface Provisioning {
  /** Whether passwords of people are stored here; a network stores those of its accounts. */
  readonly ownsPasswords: boolean;
  /**
   * Creates an account.
   *
   * @param password the owner's choice; null to generate a passphrase
   * @returns the change, with the password or the passphrase
   */
  register(account: Provisioned, password: string | null): Promise<AccountChange>;
  /**
   * Returns an account another passphrase and ends the sessions that began with the old one.
   *
   * @returns the change, with the new passphrase
   */
  rotate(account: Provisioned): Promise<AccountChange>;
  /** Blocks every login to an account and ends its sessions. */
  suspend(account: Provisioned): Promise<AccountChange>;
  /** Removes an account, frees its nick and ends its sessions. */
  remove(account: Provisioned, reason: string): Promise<AccountChange>;
  /**
   * Takes over an account with its password.
   *
   * @param known whether it has a record here
   * @returns the change; its passphrase opens nothing on IRC
   * @throws NotFound if there is no such account
   */
  adopt(account: Provisioned, known: boolean): Promise<AccountChange>;
}

/** The known live sessions on IRC. */
export interface Sessions {
  /** Closes every live session of the account, and returns their number. */
  disconnectAccount(account: string, reason: string): number;
  /** Renames a client that uses the nick of a new account without being logged in to it. */
  freeNick(account: string): void;
  /** Forgets the account's message history. */
  forgetAccount(account: string): void;
  isOnline(account: string): boolean;
  /** Removes `+o` from users who joined these channels first; the channels now belong to muster. */
  claimChannels(channels: readonly string[]): void;
}

/** Provisioning for the IRC server in this process, which has no accounts of its own. */
export class EmbeddedProvisioning implements Provisioning {
  readonly ownsPasswords = true;
  readonly #sessions: Omit<Sessions, "isOnline">;

  constructor(sessions: Omit<Sessions, "isOnline">) {
    this.#sessions = sessions;
  }

  register(account: Provisioned, password: string | null): Promise<AccountChange> {
    return this.#prepare(account.name, password ?? newSecret(), () => this.#welcome(account));
  }

  rotate({ name }: Provisioned): Promise<AccountChange> {
    return this.#prepare(name, newSecret(), () => {
      this.#sessions.disconnectAccount(name, "Passphrase changed");
    });
  }

  suspend({ name }: Provisioned): Promise<AccountChange> {
    return this.#prepare(name, "", () => this.#dismiss(name, "Agent revoked"));
  }

  remove({ name }: Provisioned, reason: string): Promise<AccountChange> {
    return this.#prepare(name, "", () => this.#dismiss(name, reason));
  }

  adopt(account: Provisioned, known: boolean): Promise<AccountChange> {
    const { name } = account;
    if (!known) return Promise.reject(new NotFound(`There is no IRC account "${name}"`));
    return this.#prepare(name, "", () => this.#welcome(account));
  }

  #prepare(name: string, passphrase: string, settle: () => void): Promise<AccountChange> {
    return Promise.resolve({ name, passphrase, statements: [], settle, [Symbol.dispose]() {} });
  }

  #welcome({ name, channels = [] }: Provisioned): void {
    this.#sessions.freeNick(name);
    this.#sessions.claimChannels(channels);
  }

  #dismiss(name: string, reason: string): void {
    this.#sessions.disconnectAccount(name, reason);
    this.#sessions.forgetAccount(name);
  }
}
