/** Logs clients in: checks passwords, creates accounts, and announces the login. */

import { evictStranger } from "../channels/closing.ts";
import { enforceBan } from "./bans.ts";
import { Cap } from "../protocol/capabilities.ts";
import type { CommandCall } from "../command.ts";
import { grantStatuses } from "../channels/status.ts";
import { type Numeric, RPL_LOGGEDIN } from "../protocol/numerics.ts";
import type { AccountRegistration, Verification } from "../options.ts";
import { observeSession } from "./registration.ts";
import type { ServerState } from "../state.ts";
import type { Client } from "../members.ts";

/** Checks a password. Refuses it if the account was revoked during the check. */
export function verifyPassword(
  state: ServerState,
  name: string,
  password: string,
  address: string,
): Promise<Verification> {
  return guardLogin(state, name, () => state.options.accounts.verify(name, password, address));
}

/** Runs a check of a password. Refuses the result if the account was revoked meanwhile. */
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

/** Why a password could not be checked; null if it was checked and is wrong. */
export function whyNotChecked(
  result: Exclude<Verification, { readonly kind: "accepted" }>,
): string | null {
  switch (result.kind) {
    case "refused":
      return null;
    case "throttled":
      return `Too many attempts, try again in ${result.retryAfterSeconds} seconds`;
    case "unavailable":
      return "Logins are not possible at the moment";
  }
}

/**
 * Creates an account for a client without one; then call {@linkcode logIn}. The nick of another
 * user cannot be its name, because the owner of an account owns the nick. The result is
 * `unavailable` if the account is deleted before it is announced.
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
  const login = state.logins.begin({ client: client.id, account: name });
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
 * Logs a client in. It may be registered already, and logged in to another account (SASL 3.2). The
 * client receives 900 and the confirmations; those who see it receive ACCOUNT.
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
  if (!client.registered || enforceBan(state, client)) return;
  for (const channel of client.channels) evictStranger(state, channel, client);
  grantStatuses(state, client);
}

/** account-notify: announces the account to those who see the client. */
function tellAccount(state: ServerState, client: Client): void {
  if (!client.registered) return;
  const message = state.messageFrom(client, "ACCOUNT", { params: [client.account ?? "*"] });
  state.tellFollowers(client, Cap.ACCOUNT_NOTIFY, message);
  if (client.hasCapability(Cap.ACCOUNT_NOTIFY)) client.send(message);
}
