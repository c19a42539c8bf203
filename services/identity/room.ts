import { join } from "node:path";
import type { Database } from "../database/mod.ts";
import type { Log } from "../log.ts";
import { AccountDirectory } from "./accounts.ts";
import { Endings } from "./endings.ts";
import { Identity } from "./identity.ts";
import { Logins } from "./logins.ts";
import { reservedNames } from "./names.ts";
import { OperatorToken } from "./operator_token.ts";
import { Passwords } from "./passwords.ts";
import { TokenKey } from "./token_key.ts";
import { Tokens } from "./tokens.ts";

export interface IdentityRoomOptions {
  /** The folder with the files `api_token` and `token_key`. */
  readonly folder: string;
  readonly database: Database;
  /** The API token that the environment pins, or null. */
  readonly pinnedToken: string | null;
  /** The nick that no account may have. */
  readonly bridgeNick: string;
  /** Wrong passwords that are allowed per place and account ... */
  readonly loginAttempts: number;
  /** ... within this time, in milliseconds. */
  readonly loginWindow: number;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly log: Log;
}

/** The services of this room, put together. */
export interface IdentityRoom {
  readonly identity: Identity;
  readonly tokens: Tokens;
  readonly operatorToken: OperatorToken;
  readonly accounts: AccountDirectory;
  readonly passwords: Passwords;
  readonly logins: Logins;
  readonly endings: Endings;
  /** Writes what is not written yet; before the database is closed. */
  close(): Promise<void>;
}

/**
 * Puts the services of this room together.
 *
 * @throws SecretFileError where a file with a secret cannot be used
 */
export async function openIdentity(options: IdentityRoomOptions): Promise<IdentityRoom> {
  const { folder, database, pinnedToken, clock, log } = options;
  const endings = new Endings(log);
  const path = join(folder, "api_token");
  const operatorToken = await OperatorToken.open({ path, pinned: pinnedToken, endings });
  const key = await TokenKey.open(join(folder, "token_key"));
  const accounts = new AccountDirectory(database, reservedNames(options.bridgeNick));
  const passwords = new Passwords();
  const { loginAttempts: attempts, loginWindow: window } = options;
  const logins = new Logins({ accounts, passwords, attempts, window, clock });
  const tokens = new Tokens({ database, accounts, key, endings, clock, log });
  const identity = new Identity({ operatorToken, tokens, logins, endings });
  return {
    identity,
    tokens,
    operatorToken,
    accounts,
    passwords,
    logins,
    endings,
    async close() {
      passwords.close();
      await tokens.close();
    },
  };
}
