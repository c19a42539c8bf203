import { join } from "node:path";
import type { Database } from "../../engines/database/mod.ts";
import type { Log } from "../../kernel/log.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import { AccountDirectory } from "./accounts.ts";
import { AgentSessions } from "./agent_sessions.ts";
import { Refusals } from "./attempts.ts";
import { Identity } from "./identity.ts";
import { Logins } from "./logins.ts";
import { reservedNames } from "./names.ts";
import { OperatorToken, SharedToken } from "./operator_token.ts";
import { PASSWORD_COSTS, type PasswordCosts, Passwords } from "./passwords.ts";
import { Expiries, Revocations } from "./revocations.ts";
import { ScramVerifiers } from "./scram.ts";
import { readSecretFile, TokenKey, writeSecretFile } from "./secrets.ts";
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
  readonly agentSessions: AgentSessions;
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
  const agentSessions = await AgentSessions.open({ database, accounts, scheduler, log });
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
  const identity = new Identity({ ...shared, operatorToken, tokens, logins, agentSessions });
  return {
    identity,
    tokens,
    operatorToken,
    webSessions,
    pagesHost: options.anyLoopbackHost ? null : await openPagesHost(folder),
    accounts,
    agentSessions,
    passwords,
    scram,
    logins,
    refusals,
    revocations,
    tokenKey: key,
    async close() {
      passwords.close();
      expiries.close();
      await agentSessions.close();
      await scram.close();
      await tokens.close();
      await webSessions.flush();
      await refusals.flush();
    },
  };
}

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
async function openPagesHost(folder: string): Promise<string> {
  const held = await readPagesHost(folder);
  if (held !== null) return held;
  const label = Array.from(
    crypto.getRandomValues(new Uint8Array(8)),
    (byte) => CHARACTERS[byte & 31],
  );
  await writeSecretFile(join(folder, FILE), label.join(""));
  return `muster-${label.join("")}.localhost`;
}
