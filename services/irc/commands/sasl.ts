/** The common part of the SASL mechanisms. */

import { Buffer } from "node:buffer";
import { whyNotChecked } from "../admission/login.ts";
import type { CommandCall } from "../command.ts";
import { ERR_SASLFAIL } from "../protocol/numerics.ts";
import type { Verification } from "../options.ts";

/** Both sides send a message in pieces of this length; a shorter piece, or `+`, ends it. */
export const CHUNK_BYTES = 400;

/** Sends a message of the server (IRCv3 SASL). */
export function sendServerMessage({ state, reply }: CommandCall, text: string): void {
  const encoded = Buffer.from(text).toString("base64");
  for (let index = 0; index <= encoded.length; index += CHUNK_BYTES) {
    const piece = encoded.slice(index, index + CHUNK_BYTES) || "+";
    reply.message(state.bareMessage("AUTHENTICATE", { params: [piece] }));
  }
}

/** Ends a failed exchange, with the reason if the client may know it. */
export function failExchange(
  { state, client, reply }: CommandCall,
  result: Exclude<Verification, { kind: "accepted" }> = { kind: "refused" },
): void {
  state.logins.endSasl(client);
  const why = whyNotChecked(result);
  if (why === null) return reply.numeric(ERR_SASLFAIL);
  reply.numericText(ERR_SASLFAIL, [], why);
}
