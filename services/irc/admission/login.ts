/** Logging in to an account: the check of a password, making an account, and what follows. */

import { enforceBan } from "./bans.ts";
import { Cap } from "../protocol/capabilities.ts";
import type { Client } from "../client.ts";
import type { CommandCall } from "../command.ts";
import { grantStatuses } from "../channels/status.ts";
import { type Numeric, RPL_LOGGEDIN } from "../protocol/numerics.ts";
import type { AccountRegistration, Verification } from "../options.ts";
import { observeSession } from "./registration.ts";
import type { ServerState } from "../state.ts";

/** Checks a password; what was revoked while the check ran is refused. */
export function verifyPassword(
  state: ServerState,
  name: string,
  password: string,
  address: string,
): Promise<Verification> {
  return guardLogin(state, name, () => state.options.accounts.verify(name, password, address));
}

/** Runs a check of a password; what was revoked meanwhile is refused. */
export async function guardLogin(
  state: ServerState,
  name: string,
  check: () => Promise<Verification>,
): Promise<Verification> {
  const login = state.logins.begin();
  let result: Verification = { kind: "unavailable" };
  try {
    result = await check();
  } finally {
    const account = result.kind === "accepted" ? result.account : name;
    if (!state.logins.end(login, account)) result = { kind: "refused" };
  }
  return result;
}

/**
 * Makes an account for a client that has none, which is then to be logged in with
 * {@linkcode logIn}. A nick that somebody else uses is no name for it: who owns an account owns the
 * nick. An account that is deleted again before it is made known is `unavailable`.
 */
export async function registerAccount(
  state: ServerState,
  client: Client,
  name: string,
  password: string,
): Promise<AccountRegistration> {
  const { accounts } = state.options;
  if (!accounts.register) return { kind: "unavailable" };
  const holder = state.findClient(name);
  if (holder && holder !== client) {
    return { kind: "refused", fault: "taken", reason: "Somebody else uses this nick" };
  }
  const login = state.logins.begin({ client, account: name });
  let result: AccountRegistration = { kind: "unavailable" };
  try {
    result = await accounts.register(name, password, client.transport.address);
  } finally {
    const account = result.kind === "registered" ? result.account : name;
    if (!state.logins.end(login, account)) result = { kind: "unavailable" };
  }
  return result;
}

/**
 * Logs a client in, also under another account and when it is registered (SASL 3.2). The client is
 * told by 900 and the confirmations after it, those who see it by ACCOUNT.
 */
export function logIn(
  { state, client, reply }: CommandCall,
  account: string,
  ...confirmations: Numeric[]
): void {
  if (client.account !== account) state.endSession(client, "Logged in to another account");
  state.setAccount(client, account);
  const mask = client.registered ? client.mask : "*";
  reply.numericText(RPL_LOGGEDIN, [mask, account], `You are now logged in as ${account}`);
  for (const confirmation of confirmations) reply.numeric(confirmation);
  tellAccount(state, client);
  observeSession(state, client);
  if (client.registered && !enforceBan(state, client)) grantStatuses(state, client);
}

/** account-notify: those who see the client learn of its account. */
function tellAccount(state: ServerState, client: Client): void {
  if (!client.registered) return;
  const message = state.messageFrom(client, "ACCOUNT", { params: [client.account ?? "*"] });
  state.tellFollowers(client, Cap.ACCOUNT_NOTIFY, message);
  if (client.hasCapability(Cap.ACCOUNT_NOTIFY)) client.send(message);
}
