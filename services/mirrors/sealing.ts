/** Passwords of remotes, sealed with a key that is not in the database (AES-256-GCM). */
import { Buffer } from "node:buffer";

const PURPOSE = "muster mirror ";
const NONCE_BYTES = 12;

/** The key from which the sealing keys are derived. */
export interface SealingKey {
  mac(purpose: string, text: string): Promise<string>;
}

/**
 * Seals a text for one project: what is sealed for another one does not open.
 *
 * @returns Base64
 */
export async function seal(key: SealingKey, projectId: string, text: string): Promise<string> {
  const nonce = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
  const cipher = await crypto.subtle.encrypt(
    { name: "AES-GCM", iv: nonce },
    await keyOf(key, projectId),
    new TextEncoder().encode(text),
  );
  return Buffer.concat([nonce, new Uint8Array(cipher)]).toString("base64");
}

/** Opens what {@link seal} returned; null if the key or the project is another one. */
export async function unseal(
  key: SealingKey,
  projectId: string,
  sealed: string,
): Promise<string | null> {
  const bytes = new Uint8Array(Buffer.from(sealed, "base64"));
  try {
    const text = await crypto.subtle.decrypt(
      { name: "AES-GCM", iv: bytes.subarray(0, NONCE_BYTES) },
      await keyOf(key, projectId),
      bytes.subarray(NONCE_BYTES),
    );
    return new TextDecoder().decode(text);
  } catch {
    return null;
  }
}

async function keyOf(key: SealingKey, projectId: string): Promise<CryptoKey> {
  const bytes = new Uint8Array(Buffer.from(await key.mac(PURPOSE, projectId), "hex"));
  return await crypto.subtle.importKey("raw", bytes, "AES-GCM", false, ["encrypt", "decrypt"]);
}
