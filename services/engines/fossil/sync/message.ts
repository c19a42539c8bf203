/** The bodies of the sync protocol: its content types, and how each one packs the cards. */
import { packBlob, unpackSent } from "../codec/mod.ts";

/** How a body holds its cards: with a length and zlib, as they are, or as they are for people. */
export type MessageForm = "compressed" | "plain" | "debug";

const CONTENT_TYPES: Readonly<Record<MessageForm, string>> = {
  compressed: "application/x-fossil",
  plain: "application/x-fossil-uncompressed",
  debug: "application/x-fossil-debug",
};

/** The content type of a form. */
export function contentTypeOf(form: MessageForm): string {
  return CONTENT_TYPES[form];
}

/** The form that a content type stands for; null if it is none of the sync protocol. */
export function messageFormOf(contentType: string | null): MessageForm | null {
  const type = (contentType ?? "").split(";", 1)[0]!.trim().toLowerCase();
  const forms = Object.keys(CONTENT_TYPES) as MessageForm[];
  return forms.find((form) => CONTENT_TYPES[form] === type) ?? null;
}

/**
 * The cards of a body. A compressed body declares its length, which is checked before anything is
 * inflated.
 *
 * @param maxBytes the most bytes of cards.
 * @throws {FossilError} `limit` if the body declares more; `corrupt` if it does not inflate.
 */
export function unpackMessage(body: Uint8Array, form: MessageForm, maxBytes: number): Uint8Array {
  return form === "compressed" ? unpackSent(body, maxBytes) : body;
}

/** The body that holds cards. */
export function packMessage(cards: Uint8Array, form: MessageForm): Uint8Array {
  return form === "compressed" ? packBlob(cards) : cards;
}
