/** Reads webhooks that come from outside: first their signature, then their body. */
import { isBounded, parseJson } from "../validation/mod.ts";
import { proven, type SourceKind } from "./herald_signatures.ts";
import { type HeraldNotice, noticeOf } from "./herald_texts.ts";

/** A webhook as it arrived, and what its source must prove. Plain data, because it goes to a thread. */
export interface Arrived {
  /** The name of the source. */
  readonly source: string;
  readonly kind: SourceKind;
  /** By names in small letters. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array<ArrayBuffer>;
  readonly secret: string;
  /** Unix milliseconds. */
  readonly now: number;
}

export type ReadDelivery =
  | { readonly kind: "unproven" }
  /** What is wrong with the body. */
  | { readonly kind: "invalid"; readonly message: string }
  /** What makes it this delivery, and what to say. */
  | { readonly kind: "read"; readonly id: string; readonly notice: HeraldNotice };

/** Most entries of a body, which bounds the memory that it takes; a push of GitHub has fewer. */
const MOST_ENTRIES = 2_000_000;

/** Reads a webhook; parses nothing of one that proves nothing. */
export function readDelivery(arrived: Arrived): ReadDelivery {
  const { source, kind, headers, body, secret, now } = arrived;
  const header = (name: string) => headers[name] ?? null;
  const proof = proven(kind, { header, body }, secret, now);
  if (proof === null) return { kind: "unproven" };
  let payload: unknown;
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(body);
    if (!isBounded(text, MOST_ENTRIES)) {
      const message = "The body is nested too deeply, or has too many entries or fields";
      return { kind: "invalid", message };
    }
    payload = parseJson(text);
  } catch {
    const message = "The body must be JSON: choose the content type application/json";
    return { kind: "invalid", message };
  }
  return { kind: "read", id: proof.id, notice: noticeOf(source, kind, proof.event, payload) };
}
