import { createHash } from "node:crypto";

/**
 * How a repository names new artifacts: `sha1`; `auto` (SHA1 until the first SHA3 name shows up);
 * `sha3` (SHA3 for new content; existing SHA1 names are reused); `sha3-only`; `shun-sha1` (SHA1
 * names are refused on receipt). The order is that of the numbers in the config row `hash-policy`.
 */
export type HashPolicy = "sha1" | "auto" | "sha3" | "sha3-only" | "shun-sha1";

/** Hash policies by the number that the config row `hash-policy` holds. */
export const HASH_POLICIES: readonly HashPolicy[] = [
  "sha1",
  "auto",
  "sha3",
  "sha3-only",
  "shun-sha1",
];

const SHA1_LENGTH = 40;
const SHA3_LENGTH = 64;
const HEX = /^[0-9a-fA-F]*$/;

/** SHA1 in lower case hexadecimal. It is the plain SHA1: Fossil's differs for attack inputs only. */
export function sha1(content: Uint8Array | string): string {
  return createHash("sha1").update(content).digest("hex");
}

/** SHA3-256 in lower case hexadecimal. */
export function sha3(content: Uint8Array | string): string {
  return createHash("sha3-256").update(content).digest("hex");
}

/** A function like {@link sha3}. */
export type Sha3 = (content: Uint8Array) => string;

/**
 * SHA3-256 by WebAssembly, in two thirds of the time of the runtime's own. Use it to hash whole
 * repositories: loading it takes as long as hashing a few megabytes.
 */
export async function loadSha3(): Promise<Sha3> {
  const { createSHA3 } = await import("./wasm_sha3.ts");
  const hasher = await createSHA3(256);
  return (content) => hasher.init().update(content).digest("hex");
}

/** MD5 in lower case hexadecimal, as in Z and R cards. */
export function md5(content: Uint8Array | string): string {
  return createHash("md5").update(content).digest("hex");
}

/** Whether text has nothing but hexadecimal digits; empty text counts. */
export function isHex(text: string): boolean {
  return HEX.test(text);
}

/** Whether text is a full artifact name: 40 (SHA1) or 64 (SHA3) hexadecimal digits. */
export function isArtifactHash(text: string): boolean {
  return (text.length === SHA1_LENGTH || text.length === SHA3_LENGTH) && isHex(text);
}

/** Whether content has the claimed name; the length of the name selects the algorithm. */
export function hasHash(content: Uint8Array, hash: string, hasher: Sha3 = sha3): boolean {
  if (hash.length === SHA1_LENGTH) return sha1(content) === hash;
  return hash.length === SHA3_LENGTH && hasher(content) === hash;
}

/** The possible names of content: the one of a new artifact, and one under which it may exist. */
export interface ContentNames {
  readonly preferred: string;
  /** Null if the policy has no second name. */
  readonly known: string | null;
}

/** Both names of content under a policy. */
export function namesOf(
  content: Uint8Array,
  policy: HashPolicy,
  hasher: Sha3 = sha3,
): ContentNames {
  switch (policy) {
    case "sha1":
    case "auto":
      return { preferred: sha1(content), known: hasher(content) };
    case "sha3":
      return { preferred: hasher(content), known: sha1(content) };
    case "sha3-only":
    case "shun-sha1":
      return { preferred: hasher(content), known: null };
  }
}
