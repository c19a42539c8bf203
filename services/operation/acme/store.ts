import { dirname, join } from "node:path";
import type { Certificate } from "./authority.ts";
import { renameSynced, writeSynced } from "../../kernel/files.ts";

const ACCOUNT_KEY = "account_key.pem";

/**
 * The files of a certificate, which only their owner reads. The certificate and its key are one
 * file, so a reader never sees a certificate with the key of another.
 */
export class CertificateStore {
  readonly #file: string;
  readonly #accountKey: string;

  /** @param file the path of the certificate; the key of the account is beside it */
  constructor(file: string) {
    this.#file = file;
    this.#accountKey = join(dirname(file), ACCOUNT_KEY);
  }

  /** The certificate with its key as PEM; null if there is none. */
  async read(): Promise<string | null> {
    return await readIfThere(this.#file);
  }

  async write({ cert, key }: Certificate): Promise<void> {
    await this.#replace(this.#file, `${cert.trim()}\n${key.trim()}\n`);
  }

  /** The key of the account at the authority as PEM; null if there is none. */
  async readAccountKey(): Promise<string | null> {
    return await readIfThere(this.#accountKey);
  }

  async writeAccountKey(key: string): Promise<void> {
    await this.#replace(this.#accountKey, key);
  }

  async #replace(path: string, text: string): Promise<void> {
    await Deno.mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeSynced(`${path}.new`, text);
    await renameSynced(`${path}.new`, path);
  }
}

async function readIfThere(path: string): Promise<string | null> {
  try {
    return await Deno.readTextFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}
