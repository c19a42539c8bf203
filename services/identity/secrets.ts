import * as crypto from "node:crypto";

/** Creates a secret of 256 random bits, as 64 hex digits. */
export function newSecret(): string {
  return crypto.randomBytes(32).toString("hex");
}

/** SHA-256 of a text, in hex. Strong enough for secrets that muster made, not for passwords. */
export const sha256: (text: string) => string = hashAtOnce() ??
  ((text) => crypto.createHash("sha256").update(text).digest("hex"));

/** The runtime's one-call hash of a text, which is twice as fast; null if it has none. */
function hashAtOnce(): ((text: string) => string) | null {
  const hash: unknown = Reflect.get(crypto, "hash");
  if (typeof hash !== "function") return null;
  return (text) => hash("sha256", text, "hex");
}

/** Compares two digests or tokens of one kind in constant time: reads every character. */
export function sameDigest(one: string, other: string): boolean {
  if (one.length !== other.length) return false;
  let difference = 0;
  for (let place = 0; place < one.length; place++) {
    difference |= one.charCodeAt(place) ^ other.charCodeAt(place);
  }
  return difference === 0;
}
