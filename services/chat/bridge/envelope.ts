import { newUlid } from "../../kernel/ulid.ts";
import { entriesIn, parseJson } from "../../kernel/validation/mod.ts";

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
  if (!text.trimStart().startsWith("{") || entriesIn(text) === null) return null;
  let value: unknown;
  try {
    value = parseJson(text);
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

/** Fields of a payload that say what it is about, the best first. */
const SUBJECTS = ["title", "summary", "text", "message", "description", "question", "name"];

/** Longest subject, in characters. */
const SUBJECT = 200;

/** Characters that would not be text in one line, or have a meaning on IRC. */
const CONTROLS = /[\p{Cc}\u2028\u2029]/gu;

/** What the payload of an envelope is about; null if it does not say. */
export function subjectOf(payload: unknown): string | null {
  if (typeof payload !== "object" || payload === null) return null;
  const fields = new Map(Object.entries(payload));
  for (const subject of SUBJECTS) {
    const value = fields.get(subject);
    if (typeof value === "string" && value !== "") return value.slice(0, SUBJECT);
  }
  return null;
}

/** What a person reads in place of an envelope, such as `task.create: Map the code`; else null. */
export function readableEnvelope(text: string): string | null {
  const envelope = parseEnvelope(text);
  if (envelope === null) return null;
  const { type, to, payload } = envelope;
  const receivers = Array.isArray(to) ? to.filter((name) => typeof name === "string") : [];
  const more = receivers.length > 3 ? ` and ${receivers.length - 3} more` : "";
  const whom = receivers.length === 0 ? "" : ` to ${receivers.slice(0, 3).join(", ")}${more}`;
  const subject = subjectOf(payload) ?? fieldsOf(payload);
  const shown = `${type}${whom}${subject === "" ? "" : `: ${subject}`}`.slice(0, 2 * SUBJECT);
  return shown.replace(CONTROLS, " ");
}

/** The plain fields of a payload, such as `state=done, files=3`. */
function fieldsOf(payload: unknown): string {
  if (typeof payload !== "object" || payload === null) return "";
  return Object.entries(payload).filter(([, value]) => typeof value !== "object" && value !== null)
    .map(([name, value]) => `${name}=${value}`).join(", ").slice(0, SUBJECT);
}

/** The content of a new envelope. */
export interface NewEnvelope {
  /** Absent: a new one. */
  readonly id?: string;
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
export function formatEnvelope(
  { id, type, from, to, payload = {} }: NewEnvelope,
  now: number,
): string {
  return JSON.stringify({ v: 1, type, id: id ?? newUlid(now), from, to, ts: now, payload })
    .replace(
      NOT_IN_A_LINE,
      (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );
}
