import { Buffer } from "node:buffer";
import { createHmac } from "node:crypto";
import { type Account, sha256 } from "../../people/identity/mod.ts";

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
