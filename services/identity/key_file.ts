import { readSecretFile, SecretFileError, writeSecretFile } from "./secret_file.ts";
import { newSecret } from "./secrets.ts";

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
