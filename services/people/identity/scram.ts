import { Buffer } from "node:buffer";
import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { type Database, type Statement, statement } from "../../engines/database/mod.ts";
import { Unavailable } from "../../kernel/errors.ts";
import { foldCase } from "../../engines/irc/mod.ts";
import { Semaphore } from "../../kernel/semaphore.ts";
import type { Log } from "../../kernel/log.ts";
import type { Account, Secret } from "./accounts.ts";
import type { TokenKey } from "./secrets.ts";

/** Rounds of PBKDF2 for 256 random bits: the minimum of RFC 7677 is enough. */
const ROUNDS_FOR_RANDOM = 4096;

const SALT_BYTES = 16;
const KEY_BITS = 256;

/** Most chosen passwords that may wait; one more is refused. */
const MAX_WAITING = 64;

/** The characters that RFC 4013 (SASLprep) maps to a space, and to nothing. */
const SPACES = /(?! )\p{Zs}/gu;
const NOTHING = /[\u00ad\u034f\u1806\u180b-\u180d\u200b-\u200d\u2060\ufe00-\ufe0f\ufeff]/gu;

/** The server's verifier of a password for SCRAM-SHA-256; it opens nothing by itself. */
export interface ScramVerifier {
  readonly salt: Uint8Array;
  readonly iterations: number;
  readonly storedKey: Uint8Array;
  readonly serverKey: Uint8Array;
}

/** A client's proof of its password. */
export interface ScramProof {
  /** AuthMessage of RFC 5802. */
  readonly authMessage: string;
  readonly clientProof: Uint8Array;
}

export interface ScramVerifiersOptions {
  readonly database: Database;
  /** The key for invented data of unknown names, so that these stay the same. */
  readonly key: TokenKey;
  /** Rounds of PBKDF2 for a password that a person chose. */
  readonly rounds: number;
  readonly log: Log;
}

/**
 * The verifiers of the accounts' passwords for SCRAM-SHA-256 (RFC 5802 and 7677). Each is stored
 * beside its secret and is valid only with it.
 */
export class ScramVerifiers {
  readonly #database: Database;
  readonly #key: TokenKey;
  readonly #rounds: Readonly<Record<Secret["scheme"], number>>;
  readonly #log: Log;
  /** Accounts with a stored verifier. A change of an account creates a new object. */
  readonly #kept = new WeakSet<Account>();
  #learning: Promise<void> | null = null;
  /** The derivation for a chosen password that runs, and those that wait. */
  readonly #deriving = new Semaphore({
    permits: 1,
    maxWaiting: MAX_WAITING,
    refusal: () => new Unavailable("Too many passwords are being set at the moment"),
  });

  constructor(options: ScramVerifiersOptions) {
    this.#database = options.database;
    this.#key = options.key;
    this.#rounds = { sha256: ROUNDS_FOR_RANDOM, argon2id: options.rounds };
    this.#log = options.log;
  }

  /**
   * Derives the verifier of a password, outside the main thread.
   *
   * @returns the statement that stores it, to run after the one that writes the secret
   * @throws Unavailable if too many passwords that people chose wait
   */
  async keeping(accountId: string, secret: Secret, password: string): Promise<Statement> {
    const verifier = await this.#derive(password, secret.scheme);
    const row = {
      secret: secret.value,
      salt: toBase64(verifier.salt),
      iterations: verifier.iterations,
      stored_key: toBase64(verifier.storedKey),
      server_key: toBase64(verifier.serverKey),
    };
    return statement(
      this.#database.tables.insertInto("scram_verifiers").values({ account_id: accountId, ...row })
        .onConflict((conflict) => conflict.column("account_id").doUpdateSet(row)),
    );
  }

  /**
   * Stores the verifier of a password that was just found right, if there is none yet. Stores one
   * at a time; while another is being stored, skips this one until the next login.
   */
  learn(account: Account, password: string): void {
    if (this.#learning !== null || this.#kept.has(account)) return;
    this.#learning = this.#learn(account, password)
      .catch((error) => this.#log.warn("A SCRAM verifier could not be stored", { error }))
      .finally(() => this.#learning = null);
  }

  /**
   * The verifier for a proof. For unknown names, and accounts without a stored verifier, it is
   * invented: always the same for one name, and no proof matches it.
   */
  async verifierOf(account: Account | null, name: string): Promise<ScramVerifier> {
    const invented = Buffer.from(await this.#key.mac("muster scram ", foldCase(name)), "hex");
    const kept = account === null ? null : await this.#find(account);
    const scheme = (invented[SALT_BYTES] ?? 0) % 2 === 0 ? "sha256" : "argon2id";
    const key = createHash("sha256").update(invented).digest();
    return kept ?? {
      salt: invented.subarray(0, SALT_BYTES),
      iterations: this.#rounds[scheme],
      storedKey: key,
      serverKey: key,
    };
  }

  /** Waits for the running write. Call it before the database is closed. */
  async close(): Promise<void> {
    await this.#learning;
  }

  /**
   * Passwords that people chose take a core for a quarter of a second each, so one runs at a time.
   */
  async #derive(password: string, scheme: Secret["scheme"]): Promise<ScramVerifier> {
    if (scheme === "sha256") return await derive(password, this.#rounds[scheme]);
    using _permit = await this.#deriving.acquire();
    return await derive(password, this.#rounds[scheme]);
  }

  async #learn(account: Account, password: string): Promise<void> {
    if (await this.#find(account) === null) {
      const keep = await this.keeping(account.id, account.secret, password);
      await this.#database.commit({ statements: [keep] });
    }
    this.#kept.add(account);
  }

  async #find({ id, secret }: Account): Promise<ScramVerifier | null> {
    const row = await this.#database.tables.selectFrom("scram_verifiers").selectAll()
      .where("account_id", "=", id).where("secret", "=", secret.value).executeTakeFirst();
    if (row === undefined) return null;
    return {
      salt: fromBase64(row.salt),
      iterations: row.iterations,
      storedKey: fromBase64(row.stored_key),
      serverKey: fromBase64(row.server_key),
    };
  }
}

/** The server's signature if the proof is right, else null; both take the same time. */
export function checkScramProof(
  { storedKey, serverKey }: ScramVerifier,
  { authMessage, clientProof }: ScramProof,
): Uint8Array | null {
  const clientKey = hmac(storedKey, authMessage);
  for (let index = 0; index < clientKey.length; index++) {
    clientKey[index] = (clientKey[index] ?? 0) ^ (clientProof[index] ?? 0);
  }
  const fits = timingSafeEqual(createHash("sha256").update(clientKey).digest(), storedKey);
  const signature = hmac(serverKey, authMessage);
  return fits && clientProof.length === clientKey.length ? signature : null;
}

/** The runtime derives in its own threads. */
async function derive(password: string, iterations: number): Promise<ScramVerifier> {
  const salt = Uint8Array.from(randomBytes(SALT_BYTES));
  const prepared = new TextEncoder().encode(prepare(password));
  const material = await crypto.subtle.importKey("raw", prepared, "PBKDF2", false, ["deriveBits"]);
  const algorithm = { name: "PBKDF2", hash: "SHA-256", salt, iterations };
  const salted = new Uint8Array(await crypto.subtle.deriveBits(algorithm, material, KEY_BITS));
  const storedKey = createHash("sha256").update(hmac(salted, "Client Key")).digest();
  return { salt, iterations, storedKey, serverKey: hmac(salted, "Server Key") };
}

/** SASLprep (RFC 4013) of a stored string, without its prohibitions. */
function prepare(password: string): string {
  return password.replaceAll(SPACES, " ").replaceAll(NOTHING, "").normalize("NFKC");
}

function hmac(key: Uint8Array, message: string): Buffer {
  return createHmac("sha256", key).update(message).digest();
}

function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}

function fromBase64(text: unknown): Uint8Array {
  return Buffer.from(String(text), "base64");
}
