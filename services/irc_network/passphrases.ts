import { Buffer } from "node:buffer";
import { createHmac } from "node:crypto";
import { type Account, sha256 } from "../identity/mod.ts";

/** Keeps what is derived here apart from anything else that may be derived from the same key. */
const PURPOSE = "muster network passphrase ";

/**
 * Makes the passphrases of accounts on a network. Each is derived from a salt that stands in the
 * database and a key that lies in a file of its own: neither alone reveals it, and together they
 * give it again when the network has to be told once more.
 */
export class NetworkPassphrases {
  readonly #key: Buffer;

  /** @param key 256 bits as 64 hex digits */
  constructor(key: string) {
    this.#key = Buffer.from(key, "hex");
  }

  /**
   * The passphrase of an account, if it can still be derived: not where only its owner knows it, nor
   * where the key is another one by now.
   *
   * @param salt null where it was never derived
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
