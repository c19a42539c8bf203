import type { Database } from "../database/mod.ts";
import { Conflict, Unavailable } from "../errors.ts";
import { newEvent, type Origin, SYSTEM } from "../events/mod.ts";
import type { Log } from "../log.ts";
import type { Revocations } from "./revocations.ts";
import { type Caller, originOf } from "./principal.ts";
import { readSecretFile, SecretFileError, writeSecretFile } from "./secret_file.ts";
import { newSecret, sameDigest, sha256 } from "./secrets.ts";

const TOKEN = /^[0-9A-Fa-f]{64}$/;

/** A text that fits an HTTP header and is too long to guess. */
const PINNED_TOKEN = /^[\x21-\x7e]{32,512}$/;

export interface OperatorTokenOptions {
  /** The file with the token, for the operator and the commands. */
  readonly path: string;
  /** A token that the operator has chosen, or null. */
  readonly pinned: string | null;
  readonly database: Database;
  readonly revocations: Revocations;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly log: Log;
}

/** The operator's API token, which opens everything, and its file. */
export class OperatorToken {
  readonly #path: string;
  readonly #pinned: boolean;
  readonly #database: Database;
  readonly #revocations: Revocations;
  readonly #clock: () => number;
  readonly #log: Log;
  #digest: string;
  /** The last rotation, which the next one waits for: they write the same file. */
  #rotated: Promise<void> = Promise.resolve();

  private constructor(options: OperatorTokenOptions, token: string) {
    this.#path = options.path;
    this.#pinned = options.pinned !== null;
    this.#database = options.database;
    this.#revocations = options.revocations;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#digest = sha256(token);
  }

  /**
   * Uses the pinned token, or else the one in the file, or else a new one, and writes the file.
   * Logs the replacement of a token, also in the event log.
   *
   * @throws SecretFileError if the pinned token is too weak or the file cannot be written
   */
  static async open(options: OperatorTokenOptions): Promise<OperatorToken> {
    const { path, pinned } = options;
    if (pinned !== null && !PINNED_TOKEN.test(pinned)) {
      throw new SecretFileError(
        "MUSTER_API_TOKEN must have 32 to 512 printable ASCII characters without a space",
      );
    }
    const held = await readSecretFile(path);
    const isUsable = held !== null && TOKEN.test(held);
    const token = pinned ?? (isUsable ? held : newSecret());
    await writeSecretFile(path, token);
    const operatorToken = new OperatorToken(options, token);
    if (held !== null && token !== held) {
      const reason = pinned === null
        ? "the file does not hold 64 hex digits"
        : "MUSTER_API_TOKEN pins another token";
      options.log.warn("The API token was replaced", { file: path, reason });
      await operatorToken.#record(SYSTEM);
    }
    return operatorToken;
  }

  /** Whether this is the SHA-256 of the token. */
  matches(digest: string): boolean {
    return sameDigest(digest, this.#digest);
  }

  /**
   * Replaces the token at once, and closes what the old one opened.
   *
   * @returns the new token
   * @throws Conflict if the environment pins the token
   * @throws Unavailable if the file cannot be written: the old token stays
   */
  async rotate(caller: Caller): Promise<string> {
    if (this.#pinned) {
      throw new Conflict("MUSTER_API_TOKEN sets the API token, so it cannot be replaced");
    }
    const token = newSecret();
    const rotation = this.#rotated.then(() => this.#replace(token));
    this.#rotated = rotation.catch(() => {});
    await rotation;
    const origin = originOf(caller);
    this.#log.info("The API token was replaced", { actor: origin.actor });
    await this.#record(origin);
    return token;
  }

  async #replace(token: string): Promise<void> {
    await this.#write(token);
    this.#digest = sha256(token);
    this.#revocations.announce({ kind: "operator" });
  }

  async #write(token: string): Promise<void> {
    try {
      await writeSecretFile(this.#path, token);
    } catch (error) {
      this.#log.error("The API token could not be replaced", { error });
      throw new Unavailable("The file with the API token cannot be written");
    }
  }

  /** The old token is already gone, so the new one must be returned whatever happens here. */
  async #record(origin: Origin): Promise<void> {
    try {
      const event = newEvent("api_token.rotated", {}, origin, this.#clock());
      await this.#database.commit({ events: [event] });
    } catch (error) {
      this.#log.warn("The rotation of the API token could not be written to the event log", {
        error,
      });
    }
  }
}
