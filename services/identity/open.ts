import { join } from "node:path";
import type { Database } from "../database/mod.ts";
import type { Log } from "../log.ts";
import type { Scheduler } from "../scheduler.ts";
import { AccountDirectory } from "./accounts.ts";
import { Revocations } from "./revocations.ts";
import { Expiries } from "./expiries.ts";
import { Identity } from "./identity.ts";
import { Logins } from "./logins.ts";
import { reservedNames } from "./names.ts";
import { OperatorToken } from "./operator_token.ts";
import { openPagesHost } from "./pages_host.ts";
import { PASSWORD_COSTS, type PasswordCosts } from "./password_costs.ts";
import { Passwords } from "./passwords.ts";
import { Refusals } from "./refusals.ts";
import { ScramVerifiers } from "./scram.ts";
import { SharedToken } from "./shared_token.ts";
import { TokenKey } from "./token_key.ts";
import { Tokens } from "./tokens.ts";
import { WebSessions } from "./web_sessions.ts";

export interface IdentityServicesOptions {
  /** The folder with the files `api_token`, `token_key` and `pages_label`. */
  readonly folder: string;
  readonly database: Database;
  /** The API token that the environment pins, or null. */
  readonly pinnedToken: string | null;
  /** The other nodes; null for a server that is alone. */
  readonly peers: { hasOthers(): Promise<boolean> } | null;
  /** The nick that is reserved for the bridge. */
  readonly bridgeNick: string;
  /** Whether this server is one of several: their bridges' nicks begin with that one. */
  readonly isNode: boolean;
  /** Whether admins may log in anywhere. */
  readonly adminsEnabled: boolean;
  /** Whether browsers may log in under any name of this machine. */
  readonly anyLoopbackHost: boolean;
  /** Wrong passwords that are allowed per place and account ... */
  readonly attempts: number;
  /** ... within this time, in milliseconds. */
  readonly window: number;
  /** What a guess at a password costs; default: {@link PASSWORD_COSTS}. */
  readonly passwordCosts?: PasswordCosts;
  readonly scheduler: Scheduler;
  readonly log: Log;
}

/** The parts of identity. */
export interface IdentityServices {
  readonly identity: Identity;
  readonly tokens: Tokens;
  readonly operatorToken: OperatorToken;
  readonly accounts: AccountDirectory;
  readonly passwords: Passwords;
  readonly scram: ScramVerifiers;
  readonly logins: Logins;
  readonly webSessions: WebSessions;
  /** The host of the web pages for browsers on this machine; null if they may use any of its names. */
  readonly pagesHost: string | null;
  readonly refusals: Refusals;
  readonly revocations: Revocations;
  /** What tokens and the secrets of webhooks are derived from. */
  readonly tokenKey: TokenKey;
  /** Writes pending changes. Call it before the database is closed. */
  close(): Promise<void>;
}

/**
 * Opens the services of identity.
 *
 * @throws SecretFileError if a file with a secret cannot be used
 */
export async function openIdentity(options: IdentityServicesOptions): Promise<IdentityServices> {
  const { folder, database, pinnedToken: pinned, scheduler, log } = options;
  const clock = () => scheduler.now();
  const revocations = new Revocations(log);
  const expiries = new Expiries({ scheduler, revocations });
  const refusals = new Refusals({ database, scheduler, log });
  const accounts = await AccountDirectory.open({
    database,
    reserved: reservedNames(options.bridgeNick, options.isNode),
    disabled: new Set(options.adminsEnabled ? [] : ["admin"]),
    revocations,
  });
  const shared = { database, accounts, revocations, expiries, refusals, clock, log };

  const path = join(folder, "api_token");
  const key = await TokenKey.open(join(folder, "token_key"));
  const { peers } = options;
  const operatorToken = await OperatorToken.open({
    ...shared,
    path,
    pinned,
    shared: peers === null ? null : await SharedToken.open({ database, key }),
    hasPeers: () => peers?.hasOthers() ?? Promise.resolve(false),
  });
  const tokens = await Tokens.open({ ...shared, key });
  const webSessions = await WebSessions.open(shared);
  const { passwordCosts = PASSWORD_COSTS } = options;
  const passwords = new Passwords(passwordCosts.argon2);
  const scram = new ScramVerifiers({ database, key, log, rounds: passwordCosts.scramRounds });
  const { attempts, window } = options;
  const logins = new Logins({ ...shared, passwords, scram, attempts, window });
  const identity = new Identity({ ...shared, operatorToken, tokens, logins });
  return {
    identity,
    tokens,
    operatorToken,
    webSessions,
    pagesHost: options.anyLoopbackHost ? null : await openPagesHost(folder),
    accounts,
    passwords,
    scram,
    logins,
    refusals,
    revocations,
    tokenKey: key,
    async close() {
      passwords.close();
      expiries.close();
      await scram.close();
      await tokens.close();
      await webSessions.flush();
      await refusals.flush();
    },
  };
}
