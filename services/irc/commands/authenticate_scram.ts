/** SASL SCRAM-SHA-256 over IRC. */

import { Buffer } from "node:buffer";
import type { SaslExchange } from "../client.ts";
import type { CommandCall } from "../command.ts";
import { logIn } from "../admission/login.ts";
import { RPL_SASLSUCCESS } from "../protocol/numerics.ts";
import type { ScramAccounts } from "../options.ts";
import { ScramExchange } from "../admission/scram.ts";
import { failExchange, sendServerMessage } from "./sasl.ts";

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Handles a message of the client: the first, the proof, or the empty last one. */
export async function continueScram(
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
