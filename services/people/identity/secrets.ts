import { Buffer } from "node:buffer";
import * as crypto from "node:crypto";
import { renameSynced, writeSynced } from "../../kernel/files.ts";

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

/** A file with a secret cannot be used; the message says why in one sentence. */
export class SecretFileError extends Error {
  override readonly name = "SecretFileError";
}

/** Longest secret file that is read, in bytes. */
const MAX_BYTES = 4096;

/**
 * Reads a file with a secret, without white space around it.
 *
 * @returns null if there is no such file, and "" if it is too long
 * @throws SecretFileError if it cannot be read
 */
export async function readSecretFile(path: string): Promise<string | null> {
  try {
    const { size } = await Deno.stat(path);
    return size > MAX_BYTES ? "" : (await Deno.readTextFile(path)).trim();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw new SecretFileError(`The file "${path}" cannot be read: ${reason(error)}`);
  }
}

/** Whether nobody but its owner may use a file; Windows has other rights. */
export async function isPrivate(path: string): Promise<boolean> {
  const { mode } = await Deno.stat(path);
  return mode === null || (mode & 0o077) === 0;
}

/**
 * Writes a file with a secret atomically. Only its owner can read it at any moment.
 *
 * @throws SecretFileError if it cannot be written
 */
export async function writeSecretFile(path: string, secret: string): Promise<void> {
  const temporary = `${path}.tmp`;
  try {
    await Deno.remove(temporary).catch(ignoreMissing);
    await writeSynced(temporary, secret);
    await renameSynced(temporary, path);
  } catch (error) {
    await Deno.remove(temporary).catch(() => {});
    throw new SecretFileError(`The file "${path}" cannot be written: ${reason(error)}`);
  }
}

function ignoreMissing(error: unknown): void {
  if (!(error instanceof Deno.errors.NotFound)) throw error;
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const KEY = /^[0-9a-f]{64}$/;

/** A key of 256 bits in a file of its own, beside the database that it protects. */
export interface KeyFile {
  /** 64 hex digits. */
  readonly key: string;
  /** Whether the file was just created. */
  readonly isNew: boolean;
}

/**
 * Reads a key, or creates it if the file does not exist.
 *
 * @throws SecretFileError like {@link readKeyFile}, or if the file cannot be written
 */
export async function openKeyFile(path: string): Promise<KeyFile> {
  const held = await readKeyFile(path);
  if (held !== null) return { key: held, isNew: false };
  const key = newSecret();
  await writeSecretFile(path, key);
  return { key, isNew: true };
}

/**
 * Reads a key.
 *
 * @returns null if there is no such file
 * @throws SecretFileError if the file contains anything else. A new key must not replace it: what
 * the old one protects would be lost
 */
export async function readKeyFile(path: string): Promise<string | null> {
  const held = await readSecretFile(path);
  if (held !== null && !KEY.test(held)) {
    throw new SecretFileError(`The file "${path}" holds no key of 64 hex digits`);
  }
  return held;
}

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

/** Secrets in the database, sealed with a key that is not in it (AES-256-GCM). */

const NONCE_BYTES = 12;

/** The key from which the sealing keys are derived. */
export interface SealingKey {
  mac(purpose: string, text: string): Promise<string>;
}

/** What a secret is for: what is sealed for anything else does not open. */
export interface SealingPurpose {
  /** Kept apart from anything else that is derived from the same key. */
  readonly purpose: string;
  /** Whose secret it is. */
  readonly owner: string;
}

/**
 * Seals a text.
 *
 * @returns Base64
 */
export async function seal(
  key: SealingKey,
  purpose: SealingPurpose,
  text: string,
): Promise<string> {
  const nonce = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
  const cipher = await crypto.subtle.encrypt(
    { name: "AES-GCM", iv: nonce },
    await keyOf(key, purpose),
    new TextEncoder().encode(text),
  );
  return Buffer.concat([nonce, new Uint8Array(cipher)]).toString("base64");
}

/** Opens what {@link seal} returned; null if the key or the purpose is another one. */
export async function unseal(
  key: SealingKey,
  purpose: SealingPurpose,
  sealed: string,
): Promise<string | null> {
  const bytes = new Uint8Array(Buffer.from(sealed, "base64"));
  try {
    const text = await crypto.subtle.decrypt(
      { name: "AES-GCM", iv: bytes.subarray(0, NONCE_BYTES) },
      await keyOf(key, purpose),
      bytes.subarray(NONCE_BYTES),
    );
    return new TextDecoder().decode(text);
  } catch {
    return null;
  }
}

async function keyOf(key: SealingKey, { purpose, owner }: SealingPurpose): Promise<CryptoKey> {
  const bytes = new Uint8Array(Buffer.from(await key.mac(purpose, owner), "hex"));
  return await crypto.subtle.importKey("raw", bytes, "AES-GCM", false, ["encrypt", "decrypt"]);
}
