/** Secrets in the database, sealed with a key that is not in it (AES-256-GCM). */
import { Buffer } from "node:buffer";

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
