import { hash } from "node:crypto";

/** Bytes of a block and of a digest of SHA-256. */
const BLOCK = 64;
const DIGEST = 32;

/**
 * HMAC with SHA-256 (RFC 2104) and one key, in a third of the time of `createHmac`, which makes a
 * stream for each text.
 */
export class Mac {
  /** The key with its inner padding, which is ASCII like the key. */
  readonly #inner: string;
  /** The key with its outer padding, and room for the inner digest. */
  readonly #outer = new Uint8Array(BLOCK + DIGEST);

  /**
   * @param key of up to 64 characters of ASCII
   * @throws RangeError if it is another one
   */
  constructor(key: string) {
    if (!/^[\0-\x7f]{1,64}$/.test(key)) throw new RangeError("The key is not of 64 bytes of ASCII");
    const bytes = new TextEncoder().encode(key.padEnd(BLOCK, "\0"));
    this.#inner = String.fromCharCode(...bytes.map((byte) => byte ^ 0x36));
    this.#outer.set(bytes.map((byte) => byte ^ 0x5c));
  }

  /** The code of a text, in hexadecimal digits. */
  of(text: string): string {
    const digest = hash("sha256", this.#inner + text);
    for (let at = 0; at < DIGEST; at++) {
      const high = valueOf(digest.charCodeAt(2 * at));
      this.#outer[BLOCK + at] = high << 4 | valueOf(digest.charCodeAt(2 * at + 1));
    }
    return hash("sha256", this.#outer);
  }
}

/** The value of a hexadecimal digit in lower case. */
function valueOf(code: number): number {
  return code <= 0x39 ? code - 0x30 : code - 0x57;
}

/** Whether two codes are the same, in a time that does not tell where they differ. */
export function isSameCode(given: string, right: string): boolean {
  if (given.length !== right.length) return false;
  let difference = 0;
  for (let at = 0; at < right.length; at++) {
    difference |= given.charCodeAt(at) ^ right.charCodeAt(at);
  }
  return difference === 0;
}
