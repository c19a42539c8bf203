import { join } from "node:path";
import { readSecretFile, writeSecretFile } from "./secret_file.ts";

/** The file in the data folder with the label. Without it, the next start makes another one. */
const FILE = "pages_label";

const LABEL = /^[a-z0-9]{8}$/;

/** The characters of a label: five random bits each. */
const CHARACTERS = "abcdefghijklmnopqrstuvwxyz234567";

/**
 * The host of the web pages on this machine, such as `muster-k3x9q2ab.localhost`. A browser sends
 * the cookies of `127.0.0.1` to every program that listens on one of its ports; to have those of
 * this host, a program must know its random label. Show it to people, and never to agents.
 *
 * @returns null if the folder has no label yet
 * @throws SecretFileError if the file cannot be read
 */
export async function readPagesHost(folder: string): Promise<string | null> {
  const label = await readSecretFile(join(folder, FILE)) ?? "";
  return LABEL.test(label) ? `muster-${label}.localhost` : null;
}

/**
 * The same; makes the label if the folder has none.
 *
 * @throws SecretFileError if the file cannot be used
 */
export async function openPagesHost(folder: string): Promise<string> {
  const held = await readPagesHost(folder);
  if (held !== null) return held;
  const label = Array.from(
    crypto.getRandomValues(new Uint8Array(8)),
    (byte) => CHARACTERS[byte & 31],
  );
  await writeSecretFile(join(folder, FILE), label.join(""));
  return `muster-${label.join("")}.localhost`;
}
