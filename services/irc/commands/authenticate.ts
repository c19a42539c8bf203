import { Cap, CAPABILITIES } from "../capabilities.ts";
import type { Client } from "../client.ts";
import type { CommandCall } from "../command.ts";
import { foldCase } from "../names.ts";
import {
  ERR_SASLABORTED,
  ERR_SASLFAIL,
  ERR_SASLTOOLONG,
  RPL_LOGGEDIN,
  RPL_SASLMECHS,
  RPL_SASLSUCCESS,
} from "../numerics.ts";
import type { Verification } from "../options.ts";
import { observeSession } from "../registration.ts";
import type { ServerState } from "../state.ts";

/** A response is sent in pieces of this length; a shorter one, or `+`, ends it (IRCv3 SASL). */
const CHUNK_BYTES = 400;

/** Longest response in base64: room for passwords far longer than anybody has. */
const RESPONSE_BYTES = 8192;

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** AUTHENTICATE mechanism, or a piece of a response, or `*` to abort. */
export function authenticate(call: CommandCall): void | Promise<void> {
  const { client, params, reply } = call;
  const argument = params[0] ?? "";
  if (!client.hasCapability(Cap.SASL)) return reply.numeric(ERR_SASLFAIL);
  if (argument === "*") {
    client.sasl = null;
    return reply.numeric(ERR_SASLABORTED);
  }
  if (!client.sasl) return begin(call, argument.toUpperCase());
  if (argument.length > CHUNK_BYTES) {
    client.sasl = null;
    return reply.numeric(ERR_SASLTOOLONG);
  }
  if (argument !== "+") client.sasl.payload += argument;
  if (client.sasl.payload.length > RESPONSE_BYTES) {
    client.sasl = null;
    return reply.numeric(ERR_SASLFAIL);
  }
  if (argument.length === CHUNK_BYTES) return;
  const { payload } = client.sasl;
  client.sasl = null;
  return verifyPlain(call, payload);
}

function begin({ state, client, reply }: CommandCall, mechanism: string): void {
  const mechanisms = CAPABILITIES.get("sasl")?.value ?? "";
  if (!mechanisms.split(",").includes(mechanism)) {
    reply.numeric(RPL_SASLMECHS, mechanisms);
    return reply.numeric(ERR_SASLFAIL);
  }
  client.sasl = { mechanism, payload: "" };
  reply.message(state.bareMessage("AUTHENTICATE", { params: ["+"] }));
}

async function verifyPlain(call: CommandCall, payload: string): Promise<void> {
  const { state, client, reply } = call;
  const credentials = decodePlain(payload);
  if (!credentials) return reply.numeric(ERR_SASLFAIL);
  const { name, password } = credentials;
  const result = await verify(state, name, password, client.transport.address);
  if (client.quitReason !== null) return;
  switch (result.kind) {
    case "accepted":
      return logIn(call, result.account);
    case "refused":
      return reply.numeric(ERR_SASLFAIL);
    case "throttled": {
      const text = `Too many attempts, try again in ${result.retryAfterSeconds} seconds`;
      return reply.numericText(ERR_SASLFAIL, [], text);
    }
    case "unavailable":
      return reply.numericText(ERR_SASLFAIL, [], "Logins are not possible at the moment");
  }
}

/** Checks a password; what was revoked while the check ran is refused. */
async function verify(
  state: ServerState,
  name: string,
  password: string,
  address: string,
): Promise<Verification> {
  const login = state.beginLogin();
  let result: Verification = { kind: "unavailable" };
  try {
    result = await state.options.accounts.verify(name, password, address);
  } finally {
    const account = result.kind === "accepted" ? result.account : name;
    if (!state.endLogin(login, account)) result = { kind: "refused" };
  }
  return result;
}

/** Takes authorisation name, name and password apart (RFC 4616). Null when they are none. */
function decodePlain(payload: string): { name: string; password: string } | null {
  let parts: string[];
  try {
    const bytes = Uint8Array.from(atob(payload), (character) => character.charCodeAt(0));
    parts = decoder.decode(bytes).split("\0");
  } catch {
    return null;
  }
  const [authorization, name, password] = parts;
  if (parts.length !== 3 || !name || !password) return null;
  if (authorization !== "" && foldCase(authorization as string) !== foldCase(name)) return null;
  return { name, password };
}

/** A client may log in again, also under another account and when it is registered (SASL 3.2). */
function logIn({ state, client, reply }: CommandCall, account: string): void {
  if (client.account !== account) state.endSession(client, "Logged in to another account");
  state.setAccount(client, account);
  const mask = client.registered ? client.mask : "*";
  reply.numericText(RPL_LOGGEDIN, [mask, account], `You are now logged in as ${account}`);
  reply.numeric(RPL_SASLSUCCESS);
  tellAccount(state, client);
  observeSession(state, client);
}

/** account-notify: those who see the client learn of its account. */
function tellAccount(state: ServerState, client: Client): void {
  if (!client.registered) return;
  const message = state.messageFrom(client, "ACCOUNT", { params: [client.account ?? "*"] });
  state.tellFollowers(client, Cap.ACCOUNT_NOTIFY, message);
  if (client.hasCapability(Cap.ACCOUNT_NOTIFY)) client.send(message);
}
