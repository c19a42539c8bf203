import { Buffer } from "node:buffer";
import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { type Database, type Statement, statement } from "../database/mod.ts";
import { Unavailable } from "../errors.ts";
import { foldCase } from "../irc/mod.ts";
import type { Log } from "../log.ts";
import type { Account, Secret } from "./accounts.ts";
import type { TokenKey } from "./token_key.ts";

/**
 * Rounds of PBKDF2. 256 random bits need no more than RFC 7677 asks for at least; a password that a
 * person chose gets as many as make guessing it no cheaper than its argon2id hash does (OWASP).
 */
const ROUNDS: Readonly<Record<Secret["scheme"], number>> = { sha256: 4096, argon2id: 600_000 };

const SALT_BYTES = 16;
const KEY_BITS = 256;

/** Chosen passwords that may wait for their turn; one more is refused. */
const MAX_WAITING = 64;

/** What RFC 4013 (SASLprep) turns into a space, and into nothing. */
const SPACES = /(?! )\p{Zs}/gu;
const NOTHING = /[\u00ad\u034f\u1806\u180b-\u180d\u200b-\u200d\u2060\ufe00-\ufe0f\ufeff]/gu;

/** What the server keeps of a password for SCRAM-SHA-256; none of it opens anything by itself. */
export interface ScramVerifier {
  readonly salt: Uint8Array;
  readonly iterations: number;
  readonly storedKey: Uint8Array;
  readonly serverKey: Uint8Array;
}

/** What a client shows in place of its password. */
export interface ScramProof {
  /** AuthMessage of RFC 5802. */
  readonly authMessage: string;
  readonly clientProof: Uint8Array;
}

export interface ScramVerifiersOptions {
  readonly database: Database;
  /** What is invented for names without an account is derived from it, so that it stays the same. */
  readonly key: TokenKey;
  readonly log: Log;
}

/**
 * What SCRAM-SHA-256 (RFC 5802 and 7677) needs of the accounts' passwords. It is kept beside each
 * secret and holds for that secret alone: with another it is good for nothing.
 */
export class ScramVerifiers {
  readonly #database: Database;
  readonly #key: TokenKey;
  readonly #log: Log;
  /** Accounts with a kept verifier. A change of an account creates a new object. */
  readonly #kept = new WeakSet<Account>();
  #learning: Promise<void> | null = null;
  /** The chosen password that is being worked on, and those that wait for it. */
  #turn: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  constructor(options: ScramVerifiersOptions) {
    this.#database = options.database;
    this.#key = options.key;
    this.#log = options.log;
  }

  /**
   * Derives what is to be kept of a password, away from the main thread.
   *
   * @returns the statement that keeps it, to be run after the one that writes the secret
   * @throws Unavailable where too many passwords that people chose wait
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
   * Keeps what is needed of a password that was just found right, where it is not kept yet. One at
   * a time; where another is being kept, the next login is time enough.
   */
  learn(account: Account, password: string): void {
    if (this.#learning !== null || this.#kept.has(account)) return;
    this.#learning = this.#learn(account, password)
      .catch((error) => this.#log.warn("A SCRAM verifier could not be stored", { error }))
      .finally(() => this.#learning = null);
  }

  /**
   * What a proof is checked against. For unknown names, and accounts without a kept verifier, it is
   * invented: always the same for one name, and no proof fits it.
   */
  async verifierOf(account: Account | null, name: string): Promise<ScramVerifier> {
    const invented = Buffer.from(await this.#key.mac("muster scram ", foldCase(name)), "hex");
    const kept = account === null ? null : await this.#find(account);
    const scheme = (invented[SALT_BYTES] ?? 0) % 2 === 0 ? "sha256" : "argon2id";
    const key = createHash("sha256").update(invented).digest();
    return kept ?? {
      salt: invented.subarray(0, SALT_BYTES),
      iterations: ROUNDS[scheme],
      storedKey: key,
      serverKey: key,
    };
  }

  /** Waits for what is being kept; before the database is closed. */
  async close(): Promise<void> {
    await this.#learning;
  }

  /** Passwords that people chose take a core for a quarter of a second each: one after the other. */
  async #derive(password: string, scheme: Secret["scheme"]): Promise<ScramVerifier> {
    if (scheme === "sha256") return await derive(password, ROUNDS[scheme]);
    if (this.#waiting >= MAX_WAITING) {
      throw new Unavailable("Too many passwords are being set at the moment");
    }
    this.#waiting++;
    const turn = this.#turn.then(() => derive(password, ROUNDS[scheme]));
    this.#turn = turn.catch(() => {}).finally(() => this.#waiting--);
    return await turn;
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

/** The server's signature where the proof is right, else null; both take the same time. */
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

/** The runtime derives in threads of its own. */
async function derive(password: string, iterations: number): Promise<ScramVerifier> {
  const salt = Uint8Array.from(randomBytes(SALT_BYTES));
  const prepared = new TextEncoder().encode(prepare(password));
  const material = await crypto.subtle.importKey("raw", prepared, "PBKDF2", false, ["deriveBits"]);
  const algorithm = { name: "PBKDF2", hash: "SHA-256", salt, iterations };
  const salted = new Uint8Array(await crypto.subtle.deriveBits(algorithm, material, KEY_BITS));
  const storedKey = createHash("sha256").update(hmac(salted, "Client Key")).digest();
  return { salt, iterations, storedKey, serverKey: hmac(salted, "Server Key") };
}

/** SASLprep (RFC 4013) of a stored string, but for what it forbids. */
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
