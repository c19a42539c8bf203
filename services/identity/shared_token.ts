import { type Database, type Directory, type Statement, statement } from "../database/mod.ts";
import { SecretFileError } from "./secret_file.ts";
import { seal, type SealingPurpose, unseal } from "./sealing.ts";
import type { TokenKey } from "./token_key.ts";

/** The key of the token in the settings table; a server that is alone removes what nodes left. */
const KEY = "nodes.api_token";

const PURPOSE: SealingPurpose = Object.freeze({ purpose: "muster api token ", owner: "" });

/** The API token that all nodes have. */
export interface HeldToken {
  readonly token: string;
  /** Whether the environment of each node pins it. */
  readonly isPinned: boolean;
}

export interface SharedTokenOptions {
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
