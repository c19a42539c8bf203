/** REGISTER and VERIFY (IRCv3 "account-registration"). */

import type { CommandCall } from "../command.ts";
import { logIn, registerAccount } from "../admission/login.ts";
import { isNick } from "../protocol/names.ts";
import { ERR_UNKNOWNCOMMAND, UNAVAILABLE } from "../protocol/numerics.ts";
import type { RegistrationFault } from "../options.ts";

const CODES: Readonly<Record<RegistrationFault, string>> = {
  taken: "ACCOUNT_EXISTS",
  name: "BAD_ACCOUNT_NAME",
  weak: "WEAK_PASSWORD",
  password: "UNACCEPTABLE_PASSWORD",
};

/** REGISTER account|* email|* password. An email address is neither required nor stored. */
export function register(call: CommandCall): void | Promise<void> {
  const { command, params, reply } = call;
  if (!mayAsk(call)) return;
  const { registration, nick } = call.client;
  const wanted = registration === null ? nick : registration.nick;
  if (wanted === null) {
    return reply.fail(command, "NEED_NICK", ["*"], "Choose a nick with NICK first");
  }
  const account = params[0] === "*" ? wanted : params[0] ?? "";
  if (!isNick(account)) {
    return reply.fail(command, CODES.name, [account], "An account's name has the form of a nick");
  }
  return makeAccount(call, account, params[2] ?? "");
}

/** VERIFY account code: always refused, because no account waits for a code. */
export function verify(call: CommandCall): void {
  const { command, params, reply } = call;
  if (!mayAsk(call)) return;
  reply.fail(command, "INVALID_CODE", [params[0] ?? "*"], "No registration waits for a code");
}

/** Whether this client can create an account now; otherwise tells it why not. */
function mayAsk({ state, client, command, params, reply }: CommandCall): boolean {
  if (!state.options.accounts.register) {
    reply.numeric(ERR_UNKNOWNCOMMAND, command);
  } else if (client.registration && !state.registersBeforeConnect) {
    const text = "Complete the connection first";
    reply.fail(command, "COMPLETE_CONNECTION_REQUIRED", [params[0] ?? "*"], text);
  } else if (client.account !== null) {
    const text = `You are logged in as ${client.account}`;
    reply.fail(command, "ALREADY_AUTHENTICATED", [client.account], text);
  } else {
    return true;
  }
  return false;
}

async function makeAccount(call: CommandCall, account: string, password: string): Promise<void> {
  const { state, client, command, reply } = call;
  const outcome = await registerAccount(state, client, account, password);
  if (client.quitReason !== null) return;
  switch (outcome.kind) {
    case "registered":
      reply.command(command, ["SUCCESS", outcome.account], "The account is made");
      return logIn(call, outcome.account);
    case "refused":
      return reply.fail(command, CODES[outcome.fault], [account], outcome.reason);
    case "throttled": {
      const text =
        `Too many accounts from your address, try again in ${outcome.retryAfterSeconds} ` +
        "seconds";
      return reply.fail(command, UNAVAILABLE, [account], text);
    }
    case "unavailable": {
      const text = "Accounts cannot be made at the moment";
      return reply.fail(command, UNAVAILABLE, [account], text);
    }
  }
}
