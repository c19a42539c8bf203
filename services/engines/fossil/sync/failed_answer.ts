import type { Card } from "./cards.ts";
import { CardWriter } from "./card_writer.ts";
import { packMessage, type SyncAnswer, type SyncRequest } from "./request.ts";

/**
 * An answer that has nothing but an error.
 *
 * @param before cards that come before the error.
 */
export function failedAnswer(
  { form, now }: Pick<SyncRequest, "form" | "now">,
  text: string,
  before: readonly Card[] = [],
): SyncAnswer {
  const out = new CardWriter();
  for (const card of before) out.add(card);
  out.add({ kind: "error", text });
  out.comment(timestampOf(now, 1));
  const counts = {
    artifactsSent: 0,
    artifactsReceived: 0,
    unversionedSent: 0,
    unversionedReceived: 0,
  };
  const body = packMessage(out.bytes(), form);
  return {
    body,
    form,
    wantsClusters: false,
    receipt: null,
    counts,
    error: text,
    client: null,
    leftBehind: null,
  };
}

/** The last line, from which the client learns how far its clock is off. */
export function timestampOf(now: number, errors: number): string {
  return `timestamp ${new Date(now).toISOString().slice(0, 19)} errors ${errors}`;
}
