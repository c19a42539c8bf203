import { Buffer } from "node:buffer";
import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";

const CIPHER = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Encrypts the keys of channels (AES-256-GCM), so that the database alone reveals none. */
export class KeySeal {
  readonly #key: Uint8Array;

  /** @param secret a secret outside the database; any length */
  constructor(secret: Uint8Array) {
    this.#key = createHash("sha256").update("channel keys\0").update(secret).digest();
  }

  /** Encrypts a text; the base64 result differs each time. */
  seal(text: string): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#key, nonce);
    const body = [cipher.update(text, "utf8"), cipher.final()];
    return Buffer.concat([nonce, ...body, cipher.getAuthTag()]).toString("base64");
  }

  /** The decrypted text; null if it was encrypted with another secret, or changed. */
  open(sealed: string): string | null {
    const bytes = Buffer.from(sealed, "base64");
    if (bytes.length < NONCE_BYTES + TAG_BYTES) return null;
    const end = bytes.length - TAG_BYTES;
    const decipher = createDecipheriv(CIPHER, this.#key, bytes.subarray(0, NONCE_BYTES));
    decipher.setAuthTag(bytes.subarray(end));
    try {
      const body = [decipher.update(bytes.subarray(NONCE_BYTES, end)), decipher.final()];
      return Buffer.concat(body).toString("utf8");
    } catch {
      return null;
    }
  }
}
