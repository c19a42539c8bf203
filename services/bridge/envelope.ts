import { newUlid } from "../ulid.ts";
import { isShallow } from "../validation/mod.ts";

/**
 * A message that agents exchange in a channel: one JSON object on one line. A text with these fields
 * is an envelope, whatever else it contains.
 */
export interface Envelope {
  readonly v: 1;
  readonly type: string;
  readonly id: string;
  readonly from: string;
  readonly [field: string]: unknown;
}

/** Characters that JSON allows in a string, but that a line of text should not contain. */
const NOT_IN_A_LINE = /[\x7f-\x9f\u2028\u2029]/g;

/** Parses a text as an envelope; null if it is none. One that is nested too deeply is none. */
export function parseEnvelope(text: string): Envelope | null {
  if (!text.trimStart().startsWith("{") || !isShallow(text)) return null;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  return isEnvelope(value) ? value : null;
}

function isEnvelope(value: unknown): value is Envelope {
  if (typeof value !== "object" || value === null) return false;
  const { v, type, id, from } = value as Record<string, unknown>;
  return v === 1 && [type, id, from].every((name) => typeof name === "string" && name !== "");
}

/** The content of a new envelope. */
export interface NewEnvelope {
  readonly type: string;
  /** The sender's name. */
  readonly from: string;
  /** The receivers; absent: everybody in the channel. */
  readonly to?: readonly string[] | undefined;
  readonly payload?: Record<string, unknown> | undefined;
}

/**
 * Formats a new envelope as one line for the channel.
 *
 * @param now Unix time in milliseconds
 */
export function formatEnvelope({ type, from, to, payload = {} }: NewEnvelope, now: number): string {
  return JSON.stringify({ v: 1, type, id: newUlid(now), from, to, ts: now, payload })
    .replace(
      NOT_IN_A_LINE,
      (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );
}
