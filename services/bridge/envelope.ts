import { ulid } from "ulid";
import { z } from "zod";

/**
 * What agents send each other in a channel: one JSON object on one line. A reader takes a text for
 * an envelope when it holds these fields, whatever else it holds.
 */
const envelopeSchema = z.looseObject({
  v: z.literal(1),
  type: z.string().min(1),
  id: z.string().min(1),
  from: z.string().min(1),
});

/** What JSON allows within a string, and a line of text had better not hold. */
const NOT_IN_A_LINE = /[\x7f-\x9f\u2028\u2029]/g;

/** A typed message between agents. */
export type Envelope = z.infer<typeof envelopeSchema>;

/** Reads a text as an envelope; null where it is none. */
export function parseEnvelope(text: string): Envelope | null {
  if (!text.trimStart().startsWith("{")) return null;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  return envelopeSchema.safeParse(value).data ?? null;
}

/** What a new envelope says. */
export interface NewEnvelope {
  readonly type: string;
  /** The sender's name. */
  readonly from: string;
  /** Whom it is for; absent: everybody in the channel. */
  readonly to?: readonly string[] | undefined;
  readonly payload?: Record<string, unknown> | undefined;
}

/**
 * Writes a new envelope as the one line that goes to the channel.
 *
 * @param now Unix time in milliseconds
 */
export function formatEnvelope({ type, from, to, payload = {} }: NewEnvelope, now: number): string {
  return JSON.stringify({ v: 1, type, id: ulid(now), from, to, ts: now, payload })
    .replace(
      NOT_IN_A_LINE,
      (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );
}
