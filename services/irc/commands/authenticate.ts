import { Cap, saslMechanisms } from "../protocol/capabilities.ts";
import type { CommandCall } from "../command.ts";
import { logIn, verifyPassword } from "../admission/login.ts";
import { foldCase } from "../protocol/names.ts";
import {
  ERR_SASLABORTED,
  ERR_SASLFAIL,
  ERR_SASLTOOLONG,
  RPL_SASLMECHS,
  RPL_SASLSUCCESS,
} from "../protocol/numerics.ts";
import { continueScram } from "./authenticate_scram.ts";
import { CHUNK_BYTES, failExchange } from "./sasl.ts";

/** Longest response in base64; it has room for very long passwords. */
const RESPONSE_BYTES = 8192;

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** AUTHENTICATE with a mechanism, a piece of a response, or `*` to abort. */
export function authenticate(call: CommandCall): void | Promise<void> {
  const { state, client, params, reply } = call;
  const argument = params[0] ?? "";
  if (!client.hasCapability(Cap.SASL)) return reply.numeric(ERR_SASLFAIL);
  if (argument === "*") {
    state.logins.endSasl(client);
    return reply.numeric(ERR_SASLABORTED);
  }
  const exchange = client.sasl;
  if (!exchange) return begin(call, argument.toUpperCase());
  if (argument.length > CHUNK_BYTES) {
    state.logins.endSasl(client);
    return reply.numeric(ERR_SASLTOOLONG);
  }
  if (argument !== "+") exchange.payload += argument;
  if (exchange.payload.length > RESPONSE_BYTES) return failExchange(call);
  if (argument.length === CHUNK_BYTES) return;
  const { payload } = exchange;
  exchange.payload = "";
  if (exchange.mechanism !== "PLAIN") return continueScram(call, exchange, payload);
  state.logins.endSasl(client);
  return verifyPlain(call, payload);
}

function begin({ state, client, reply }: CommandCall, mechanism: string): void {
  const mechanisms = saslMechanisms(state);
  if (!mechanisms.includes(mechanism)) {
    reply.numeric(RPL_SASLMECHS, mechanisms.join(","));
    return reply.numeric(ERR_SASLFAIL);
  }
  client.sasl = { mechanism, payload: "", scram: null, login: null, confirmed: null };
  reply.message(state.bareMessage("AUTHENTICATE", { params: ["+"] }));
}

async function verifyPlain(call: CommandCall, payload: string): Promise<void> {
  const { state, client } = call;
  const credentials = decodePlain(payload);
  if (!credentials) return failExchange(call);
  const { name, password } = credentials;
  const result = await verifyPassword(state, name, password, client.transport.address);
  if (client.quitReason !== null) return;
  if (result.kind === "accepted") logIn(call, result.account, RPL_SASLSUCCESS);
  else failExchange(call, result);
}

/** Parses the authorisation name, name and password (RFC 4616). Null if they are malformed. */
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
