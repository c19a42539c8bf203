import { Conflict } from "../errors.ts";
import type { Endings } from "./endings.ts";
import { readSecretFile, SecretFileError, writeSecretFile } from "./secret_file.ts";
import { newSecret, sameDigest, sha256 } from "./secrets.ts";

const TOKEN = /^[0-9A-Fa-f]{64}$/;

/** What can stand in an HTTP header and is long enough not to be guessed. */
const PINNED_TOKEN = /^[\x21-\x7e]{32,512}$/;

export interface OperatorTokenOptions {
  /** The file that tells the operator and the commands what the token is. */
  readonly path: string;
  /** A token that the operator has chosen, or null. */
  readonly pinned: string | null;
  readonly endings: Endings;
}

/** The operator's API token, which opens everything, and the file that it stands in. */
export class OperatorToken {
  readonly #path: string;
  readonly #pinned: boolean;
  readonly #endings: Endings;
  #digest: string;
  /** The last rotation, which the next one waits for: they write the same file. */
  #rotated: Promise<void> = Promise.resolve();

  private constructor({ path, pinned, endings }: OperatorTokenOptions, token: string) {
    this.#path = path;
    this.#pinned = pinned !== null;
    this.#endings = endings;
    this.#digest = sha256(token);
  }

  /**
   * Takes the pinned token, else the one that the file holds, else a new one, and writes the file.
   *
   * @throws SecretFileError where the pinned token is too weak or the file cannot be written
   */
  static async open(options: OperatorTokenOptions): Promise<OperatorToken> {
    const { path, pinned } = options;
    if (pinned !== null && !PINNED_TOKEN.test(pinned)) {
      throw new SecretFileError(
        "MUSTER_API_TOKEN must have 32 to 512 printable ASCII characters without a space",
      );
    }
    const held = await readSecretFile(path);
    const token = pinned ?? (held !== null && TOKEN.test(held) ? held : newSecret());
    await writeSecretFile(path, token);
    return new OperatorToken(options, token);
  }

  /** Whether this is the SHA-256 of the token. */
  matches(digest: string): boolean {
    return sameDigest(digest, this.#digest);
  }

  /**
   * Replaces the token at once. What was opened with the old one is closed.
   *
   * @returns the new token
   * @throws Conflict where the environment pins the token
   */
  async rotate(): Promise<string> {
    if (this.#pinned) {
      throw new Conflict("MUSTER_API_TOKEN pins the API token, which therefore cannot be replaced");
    }
    const token = newSecret();
    const rotation = this.#rotated.then(() => this.#replace(token));
    this.#rotated = rotation.catch(() => {});
    await rotation;
    return token;
  }

  async #replace(token: string): Promise<void> {
    await writeSecretFile(this.#path, token);
    this.#digest = sha256(token);
    this.#endings.announce({ kind: "operator" });
  }
}
