import {
  type Database,
  type Directory,
  type Statement,
  statement,
  Unchanged,
} from "../../engines/database/mod.ts";
import { Conflict, Unavailable } from "../../kernel/errors.ts";
import { newEvent, type Origin, SYSTEM } from "../../engines/events/mod.ts";
import type { Log } from "../../kernel/log.ts";
import { type Caller, originOf } from "./principal.ts";
import type { Revocations } from "./revocations.ts";
import {
  isPrivate,
  newSecret,
  readSecretFile,
  sameDigest,
  seal,
  type SealingPurpose,
  SecretFileError,
  sha256,
  type TokenKey,
  unseal,
  writeSecretFile,
} from "./secrets.ts";

const TOKEN = /^[0-9A-Fa-f]{64}$/;

/** A text that fits an HTTP header and is too long to guess. */
const PINNED_TOKEN = /^[\x21-\x7e]{32,512}$/;

interface OperatorTokenOptions {
  /** The file with the token, for the operator and the commands. */
  readonly path: string;
  /** A token that the operator has chosen, or null. */
  readonly pinned: string | null;
  readonly database: Database;
  readonly revocations: Revocations;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly log: Log;
  /** The token that this node has in common with others; null for a server that is alone. */
  readonly shared: SharedToken | null;
  /** Whether another node runs. */
  readonly hasPeers: () => Promise<boolean>;
}

/** The operator's API token, which opens everything, and its file. */
export class OperatorToken {
  readonly #path: string;
  readonly #pinned: boolean;
  readonly #database: Database;
  readonly #revocations: Revocations;
  readonly #clock: () => number;
  readonly #log: Log;
  readonly #shared: SharedToken | null;
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
    this.#shared = options.shared;
    this.#digest = sha256(token);
    this.#shared?.onReplaced(({ token }) => this.#adopt(token));
  }

  /**
   * Uses the pinned token, or else that of the other nodes, or else the one in the file, or else a
   * new one, and writes the file if it lacks it. Logs the replacement of a token, also in the event
   * log.
   *
   * @throws SecretFileError if the pinned token is too weak or not that of the other nodes, or the
   * file cannot be written
   */
  static async open(options: OperatorTokenOptions): Promise<OperatorToken> {
    const { path, pinned, shared } = options;
    if (pinned !== null && !PINNED_TOKEN.test(pinned)) {
      throw new SecretFileError(
        "MUSTER_API_TOKEN must have 32 to 512 printable ASCII characters without a space",
      );
    }
    const held = await readSecretFile(path);
    const isUsable = held !== null && TOKEN.test(held);
    const own = pinned ?? (isUsable ? held : newSecret());
    const token = shared === null ? own : await agreedToken(options, shared, own);
    if (token !== held || !await isPrivate(path)) await writeSecretFile(path, token);
    const operatorToken = new OperatorToken(options, token);
    if (held === null || token === held) return operatorToken;
    const reason = pinned !== null
      ? "MUSTER_API_TOKEN pins another token"
      : token === own
      ? "the file does not hold 64 hex digits"
      : "the other nodes have another token";
    options.log.warn("The API token was replaced", { file: path, reason });
    if (token === own) await operatorToken.#record(SYSTEM);
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
    const origin = originOf(caller);
    const rotation = this.#rotated.then(() => this.#replace(token, origin));
    this.#rotated = rotation.catch(() => {});
    await rotation;
    this.#log.info("The API token was replaced", { actor: origin.actor });
    return token;
  }

  async #replace(token: string, origin: Origin): Promise<void> {
    if (this.#shared !== null) return await this.#replaceShared(this.#shared, token, origin);
    await this.#write(token);
    this.#use(token);
    await this.#record(origin);
  }

  async #replaceShared(shared: SharedToken, token: string, origin: Origin): Promise<void> {
    const storing = await shared.storing({ token, isPinned: false }, () => this.#use(token));
    const event = newEvent("api_token.rotated", {}, origin, this.#clock());
    try {
      await this.#database.commit({ statements: [storing], events: [event] });
    } catch (error) {
      if (!(error instanceof Unchanged)) throw error;
      throw new Conflict("The API token has just been replaced on another node");
    } finally {
      if (this.matches(sha256(token))) await this.#write(token).catch(() => {});
    }
  }

  /** Takes a token that another node has stored. It counts even if the file cannot be written. */
  async #adopt(token: string): Promise<void> {
    if (this.matches(sha256(token))) return;
    this.#use(token);
    await this.#write(token).catch(() => {});
  }

  #use(token: string): void {
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

/**
 * The token on which this node agrees with the others.
 *
 * @param own the token that the node would have if it were alone
 * @throws SecretFileError if other nodes run, and only this one or only they have a pinned token, or
 * this one has another
 */
async function agreedToken(
  { pinned, hasPeers, database }: OperatorTokenOptions,
  shared: SharedToken,
  own: string,
): Promise<string> {
  for (;;) {
    const { held } = shared;
    const wanted: HeldToken = { token: own, isPinned: pinned !== null };
    if (held !== null) {
      const agrees = held.isPinned === wanted.isPinned &&
        (pinned === null || held.token === pinned);
      if (agrees) return held.token;
      if (await hasPeers()) throw new SecretFileError(disagreement(held, wanted));
    }
    try {
      await database.commit({ statements: [await shared.storing(wanted, () => {})] });
      return own;
    } catch (error) {
      if (!(error instanceof Unchanged)) throw error;
      // Another node that starts at the same time was first.
      await shared.load();
    }
  }
}

function disagreement(held: HeldToken, wanted: HeldToken): string {
  if (!held.isPinned) {
    return "MUSTER_API_TOKEN is not set for the other nodes: set it for all of them or for none";
  }
  return wanted.isPinned
    ? "MUSTER_API_TOKEN is another one for the other nodes: set the same for all of them"
    : "MUSTER_API_TOKEN is set for the other nodes: set the same for this one";
}

/** The key of the token in the settings table; a server that is alone removes what nodes left. */
const KEY = "nodes.api_token";

const PURPOSE: SealingPurpose = Object.freeze({ purpose: "muster api token ", owner: "" });

/** The API token that all nodes have. */
interface HeldToken {
  readonly token: string;
  /** Whether the environment of each node pins it. */
  readonly isPinned: boolean;
}

interface SharedTokenOptions {
  readonly database: Database;
  /** The same on all nodes: what it sealed is of no use to a reader of the database. */
  readonly key: TokenKey;
}

/** The API token of several nodes, sealed in their database. */
export class SharedToken implements Directory {
  readonly tables = ["settings"] as const;
  readonly #options: SharedTokenOptions;
  #sealed: string | null = null;
  #held: HeldToken | null = null;
  #adopt: (held: HeldToken) => Promise<void> = () => Promise.resolve();

  private constructor(options: SharedTokenOptions) {
    this.#options = options;
  }

  /**
   * Reads the token.
   *
   * @throws SecretFileError if it was sealed with another key
   */
  static async open(options: SharedTokenOptions): Promise<SharedToken> {
    const shared = new SharedToken(options);
    await options.database.keepCurrent(shared);
    return shared;
  }

  /** The token; null if no node has stored one. */
  get held(): HeldToken | null {
    return this.#held;
  }

  /**
   * Sets what takes a token that another node has stored. That node waits for it.
   *
   * @param adopt must not throw
   */
  onReplaced(adopt: (held: HeldToken) => Promise<void>): void {
    this.#adopt = adopt;
  }

  async load(): Promise<void> {
    const row = await this.#options.database.tables.selectFrom("settings").select("value")
      .where("key", "=", KEY).executeTakeFirst();
    const sealed = row?.value ?? null;
    if (sealed === this.#sealed) return;
    const opened = sealed === null ? null : await this.#open(sealed);
    this.#sealed = sealed;
    this.#held = opened;
    if (opened !== null) await this.#adopt(opened);
  }

  /**
   * The statement that stores a token; its transaction is rolled back as `Unchanged` if another node
   * has stored one meanwhile.
   *
   * @param committed called once it is on disk
   */
  async storing(held: HeldToken, committed: () => void): Promise<Statement> {
    const { database, key } = this.#options;
    const value = await seal(key, PURPOSE, JSON.stringify(held));
    const before = this.#sealed ?? "";
    const storing = database.tables.insertInto("settings").values({ key: KEY, value })
      .onConflict((conflict) =>
        conflict.column("key").doUpdateSet({ value }).where("settings.value", "=", before)
      );
    return statement(storing, {
      mustChange: true,
      committed: () => {
        this.#sealed = value;
        this.#held = held;
        committed();
      },
    });
  }

  async #open(sealed: string): Promise<HeldToken> {
    const text = await unseal(this.#options.key, PURPOSE, sealed);
    if (text === null) {
      throw new SecretFileError(
        "The API token in the database was sealed with another token_key: copy token_key from " +
          "another node",
      );
    }
    return JSON.parse(text);
  }
}
