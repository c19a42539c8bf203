/** The messages of a client that clones and pulls. */
import { joinBytes, sha1 } from "../codec/mod.ts";
import type { Card } from "./cards.ts";
import { CardWriter } from "./card_writer.ts";
import { sharedSecret, signNonce } from "./login_card.ts";
import { packMessage } from "./message.ts";

/** The version that the client reports: it sends its login in the message. */
const CLIENT_VERSION = ["22100", "20230226", "192424"];

/** Proves who sends a message. */
export interface ClientLogin {
  readonly user: string;
  /** A password, or a token of 40 hexadecimal digits. */
  readonly password: string;
  readonly projectCode: string;
}

/**
 * A message with cards, after those that say who sends it.
 *
 * @param login null to send it as nobody
 * @returns a body of the form `compressed`
 */
export function clientMessage(cards: readonly Card[], login: ClientLogin | null): Uint8Array {
  const rest = new CardWriter();
  rest.add({ kind: "pragma", name: "client-version", values: CLIENT_VERSION });
  for (const card of cards) rest.add(card);
  const body = rest.bytes();
  if (login === null) return packMessage(body, "compressed");
  const nonce = sha1(body);
  const signature = signNonce(nonce, sharedSecret(login.password, login));
  const whole = new CardWriter();
  whole.add({ kind: "login", user: login.user, nonce, signature });
  return packMessage(joinBytes([whole.bytes(), body]), "compressed");
}
