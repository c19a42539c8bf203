import { Buffer } from "node:buffer";
import { openKeyFile } from "./key_file.ts";

/** Keeps what is derived here apart from anything else that may be derived from the same key. */
const PURPOSE = "muster token ";

/**
 * The key that tokens are derived from. It has a file of its own, so that neither the database nor
 * the file alone reveals a token.
 */
export class TokenKey {
  readonly #key: CryptoKey;

  private constructor(key: CryptoKey) {
    this.#key = key;
  }

  /**
   * Reads the key, or creates it if the file does not exist.
   *
   * @throws SecretFileError if the file holds anything else: a new key would invalidate every token
   */
  static async open(path: string): Promise<TokenKey> {
    const { key } = await openKeyFile(path);
    const bytes = Buffer.from(key, "hex");
    const algorithm = { name: "HMAC", hash: "SHA-256" };
    return new TokenKey(await crypto.subtle.importKey("raw", bytes, algorithm, false, ["sign"]));
  }

  /** The token of this id: the first 160 bits of an HMAC-SHA-256, as 40 hex digits. */
  async derive(id: string): Promise<string> {
    return (await this.mac(PURPOSE, id)).slice(0, 40);
  }

  /** HMAC-SHA-256 of a text for a purpose of its own, as 64 hex digits. */
  async mac(purpose: string, text: string): Promise<string> {
    const message = new TextEncoder().encode(purpose + text);
    return Buffer.from(await crypto.subtle.sign("HMAC", this.#key, message)).toString("hex");
  }
}
