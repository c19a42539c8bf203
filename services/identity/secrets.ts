import { Buffer } from "node:buffer";
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

/** Makes a secret of 256 random bits, as 64 hex digits. */
export function newSecret(): string {
  return randomBytes(32).toString("hex");
}

/** SHA-256 of a text, in hex. Enough for secrets that muster made, too little for passwords. */
export function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** Compares two SHA-256 digests in hex in constant time. */
export function sameDigest(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}
