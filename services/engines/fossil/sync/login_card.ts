/** The proof of a password that a client sends with each message, and messages with that proof. */
import { constants, inflateSync } from "node:zlib";
import { decodeUtf8, hasHash, joinBytes, sha1 } from "../codec/mod.ts";
import { CardReader, loginOf } from "./card_reader.ts";
import { CardWriter } from "./card_writer.ts";
import type { Card, LoginCard } from "./cards.ts";
import { type MessageForm, packMessage } from "./request.ts";

/** The cookie in which clients since 2.27 may send the card. */
export const LOGIN_COOKIE = "x-f-l-c";

/** A password of this form is its own shared secret. */
const SECRET = /^[0-9a-f]{40}$/;

/** Bytes of the length before a compressed message. */
const LENGTH_BYTES = 4;

/** A login card, and what it covers. */
export interface PresentedLogin extends Omit<LoginCard, "kind"> {
  /** Whether the nonce is the hash of the rest of the message: nobody has changed that. */
  readonly isWhole: boolean;
}

/**
 * The login of a message: from its cookie, or else its first card.
 *
 * @param cookie the value of the cookie {@link LOGIN_COOKIE}; null if there is none.
 * @throws {FossilError} `invalid` if the first card is malformed.
 */
export function readLogin(message: Uint8Array, cookie: string | null): PresentedLogin | null {
  const card = cookie === null ? null : cardOfCookie(cookie);
  if (card !== null) return presented(card, message);
  const reader = new CardReader(message);
  const first = reader.next();
  return first?.kind === "login" ? presented(first, message.subarray(reader.position)) : null;
}

/** How much of a message {@link peekLogin} needs, in bytes. */
export const LOGIN_HEAD_BYTES = 2048;

/**
 * The login of a message by its first bytes, without a check of its nonce.
 *
 * @param head the first {@link LOGIN_HEAD_BYTES} of the body.
 * @param cookie as {@link readLogin} takes it.
 */
export function peekLogin(
  head: Uint8Array,
  { form, cookie }: { readonly form: MessageForm; readonly cookie: string | null },
): LoginCard | null {
  const card = cookie === null ? null : cardOfCookie(cookie);
  if (card !== null) return card;
  const [line = ""] = decodeUtf8(form === "compressed" ? inflateHead(head) : head).split("\n", 1);
  return loginOf(line.trim().split(/\s+/));
}

/** What the beginning of a compressed body inflates to; empty if it is malformed. */
function inflateHead(head: Uint8Array): Uint8Array {
  try {
    return inflateSync(head.subarray(LENGTH_BYTES), { finishFlush: constants.Z_SYNC_FLUSH });
  } catch {
    return new Uint8Array(0);
  }
}

function presented(
  { user, nonce, signature }: LoginCard,
  covered: Uint8Array,
): PresentedLogin {
  return { user, nonce, signature, isWhole: hasHash(covered, nonce) };
}

/** A cookie has the card with spaces as "+", and other characters percent-encoded. */
function cardOfCookie(cookie: string): LoginCard | null {
  let text: string;
  try {
    text = decodeURIComponent(cookie.replaceAll("+", " "));
  } catch {
    return null;
  }
  return loginOf(text.trim().split(/\s+/));
}

/**
 * What client and server sign with. A password of 40 hexadecimal digits is its own secret, for every
 * user and project.
 */
export function sharedSecret(
  password: string,
  { projectCode, user }: { readonly projectCode: string; readonly user: string },
): string {
  return SECRET.test(password) ? password : sha1(`${projectCode}/${user}/${password}`);
}

/** The signature of a nonce. */
export function signNonce(nonce: string, secret: string): string {
  return sha1(nonce + secret);
}

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
