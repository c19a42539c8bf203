import { Buffer } from "node:buffer";
import { logIn, verifyPassword, whyNotChecked } from "../admission/login.ts";
import { ScramExchange } from "../admission/scram.ts";
import type { CommandCall } from "../command.ts";
import type { ScramAccounts, Verification } from "../options.ts";
import { Cap } from "../protocol/capabilities.ts";
import { saslMechanisms } from "./cap.ts";
import { foldCase } from "../protocol/names.ts";
import {
  ERR_SASLABORTED,
  ERR_SASLFAIL,
  ERR_SASLTOOLONG,
  RPL_SASLMECHS,
  RPL_SASLSUCCESS,
} from "../protocol/numerics.ts";
import type { SaslExchange } from "../members.ts";

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

/** SASL SCRAM-SHA-256 over IRC. */

/** Handles a message of the client: the first, the proof, or the empty last one. */
async function continueScram(
  call: CommandCall,
  exchange: SaslExchange,
  payload: string,
): Promise<void> {
  const { scram: accounts } = call.state.options.accounts;
  const text = decode(payload);
  if (accounts === undefined || text === null) return failExchange(call);
  if (exchange.confirmed !== null) return confirm(call, exchange.confirmed, text);
  if (exchange.scram === null) await challenge(call, exchange, accounts, text);
  else await prove(call, exchange, exchange.scram, accounts, text);
}

async function challenge(
  call: CommandCall,
  exchange: SaslExchange,
  accounts: ScramAccounts,
  clientFirst: string,
): Promise<void> {
  const scram = ScramExchange.begin(clientFirst);
  if (scram === null) return failExchange(call);
  const message = scram.challenge(await accounts.challenge(scram.name));
  if (call.client.sasl !== exchange) return;
  exchange.scram = scram;
  sendServerMessage(call, message);
}

/** Checks the proof. The login can still be revoked until the client has verified the server. */
async function prove(
  call: CommandCall,
  exchange: SaslExchange,
  scram: ScramExchange,
  accounts: ScramAccounts,
  clientFinal: string,
): Promise<void> {
  const { state, client } = call;
  const proof = scram.proof(clientFinal);
  if (proof === null) return failExchange(call);
  exchange.login = state.logins.begin();
  const { address } = client.transport;
  const result = await accounts.verify(scram.name, proof, address).catch((error: unknown) => {
    state.logins.endSasl(client);
    throw error;
  });
  if (client.sasl !== exchange) return;
  if (result.kind !== "accepted") return failExchange(call, result);
  exchange.confirmed = result.account;
  const signature = Buffer.from(result.serverSignature).toString("base64");
  sendServerMessage(call, `v=${signature}`);
}

function confirm(call: CommandCall, account: string, text: string): void {
  const { state, client } = call;
  const login = client.sasl?.login;
  const holds = login ? state.logins.end(login, account) : false;
  if (!holds || text !== "") return failExchange(call);
  state.logins.endSasl(client);
  logIn(call, account, RPL_SASLSUCCESS);
}

function decode(payload: string): string | null {
  try {
    return decoder.decode(Uint8Array.from(atob(payload), (character) => character.charCodeAt(0)));
  } catch {
    return null;
  }
}

/** The common part of the SASL mechanisms. */

/** Both sides send a message in pieces of this length; a shorter piece, or `+`, ends it. */
const CHUNK_BYTES = 400;

/** Sends a message of the server (IRCv3 SASL). */
function sendServerMessage({ state, reply }: CommandCall, text: string): void {
  const encoded = Buffer.from(text).toString("base64");
  for (let index = 0; index <= encoded.length; index += CHUNK_BYTES) {
    const piece = encoded.slice(index, index + CHUNK_BYTES) || "+";
    reply.message(state.bareMessage("AUTHENTICATE", { params: [piece] }));
  }
}

/** Ends a failed exchange, with the reason if the client may know it. */
function failExchange(
  { state, client, reply }: CommandCall,
  result: Exclude<Verification, { kind: "accepted" }> = { kind: "refused" },
): void {
  state.logins.endSasl(client);
  const why = whyNotChecked(result);
  if (why === null) return reply.numeric(ERR_SASLFAIL);
  reply.numericText(ERR_SASLFAIL, [], why);
}
