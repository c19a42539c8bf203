import { Buffer } from "node:buffer";
import { createHmac } from "node:crypto";
import { readSecretFile, SecretFileError, writeSecretFile } from "./secret_file.ts";
import { newSecret } from "./secrets.ts";

const KEY = /^[0-9a-f]{64}$/;

/** Keeps what is derived here apart from anything else that may be derived from the same key. */
const PURPOSE = "muster token ";

/**
 * The key that tokens are derived from. It lies in a file of its own, so that neither the database
 * alone nor the file alone reveals a token.
 */
export class TokenKey {
  readonly #key: Buffer;

  private constructor(hex: string) {
    this.#key = Buffer.from(hex, "hex");
  }

  /**
   * Reads the key, or makes it where there is none yet.
   *
   * @throws SecretFileError where the file holds something else: a new key in its place would make
   *   every token another one
   */
  static async open(path: string): Promise<TokenKey> {
    const held = await readSecretFile(path);
    if (held !== null) {
      if (KEY.test(held)) return new TokenKey(held);
      throw new SecretFileError(`The file "${path}" holds no key of 64 hex digits`);
    }
    const key = newSecret();
    await writeSecretFile(path, key);
    return new TokenKey(key);
  }

  /** The token of this id: 160 bits, as 40 hex digits. */
  derive(id: string): string {
    return createHmac("sha256", this.#key).update(PURPOSE + id).digest("hex").slice(0, 40);
  }
}
