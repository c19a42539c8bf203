import { Buffer } from "node:buffer";
import { createHmac } from "node:crypto";
import { Conflict } from "../../kernel/errors.ts";
import { type Account, sha256 } from "../../people/identity/mod.ts";

/**
 * Accounts on a network carry the mark of their muster: an email address in a domain that contains
 * the instance id. Every services package stores an address with the account, shows it to
 * operators, and keeps it across restarts and new passphrases. No email is ever sent there.
 */
const DOMAIN = "agents.muster.invalid";

const ADDRESS = /@([0-9a-f]{20})\.agents\.muster\.invalid$/i;

/**
 * The address that marks an account. It is different for each account, because services may limit
 * the accounts per address.
 *
 * @param instance 20 hex digits
 */
export function markOf(account: string, instance: string): string {
  const local = account.replace(/[^A-Za-z0-9-]/g, (character) => `.${character.charCodeAt(0)}.`);
  return `${`a.${local}.a`.replaceAll(/\.{2,}/g, ".")}@${instance}.${DOMAIN}`;
}

/** The instance id in an address; null if the address is no mark. */
export function ownerIn(address: string | null | undefined): string | null {
  return ADDRESS.exec(address ?? "")?.[1]?.toLowerCase() ?? null;
}

/** Whether an account has the mark of another muster. */
export function isForeign({ owner }: { readonly owner: string | null }, instance: string): boolean {
  return owner !== null && owner !== instance;
}

export function belongsElsewhere(name: string): Conflict {
  return new Conflict(`The account "${name}" on the IRC network belongs to another muster`);
}

/** Separates this derivation from others with the same key. */
const PURPOSE = "muster network passphrase ";

/**
 * Derives the passphrases of accounts on a network, each from a salt in the database and a key in a
 * file of its own. Neither alone reveals it; together they reproduce it when the network needs it
 * again.
 */
export class NetworkPassphrases {
  readonly #key: Buffer;

  /** @param key 256 bits as 64 hex digits */
  constructor(key: string) {
    this.#key = Buffer.from(key, "hex");
  }

  /**
   * The passphrase of an account, if it can still be derived: not if only its owner knows it, or
   * the key has changed.
   *
   * @param salt null if it was never derived
   */
  of(salt: string | null, { secret }: Pick<Account, "secret">): string | null {
    if (salt === null || secret.scheme !== "sha256") return null;
    const passphrase = this.derive(salt);
    return sha256(passphrase) === secret.value ? passphrase : null;
  }

  /** The passphrase of this salt: 256 bits as 64 hex digits. */
  derive(salt: string): string {
    return createHmac("sha256", this.#key).update(PURPOSE + salt).digest("hex");
  }
}
