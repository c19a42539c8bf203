/** Advice for a model after a tool has failed. */

import {
  Conflict,
  Forbidden,
  Halted,
  NotFound,
  ServiceError,
  SwitchedOff,
  TimedOut,
  TooLarge,
  TooMany,
  Unavailable,
} from "../services/kernel/errors.ts";
import { HASH_DIGITS } from "./short_values.ts";
import type { ToolAdvice } from "../services/people/identity/operation.ts";

/**
 * Formulates a failure for a model: what is wrong, and what to do about it.
 *
 * @returns null for a bug, whose details the caller may not see
 */
export function explain(error: unknown, advice: ToolAdvice): string | null {
  if (!(error instanceof ServiceError)) return null;
  const remedy = remedyFor(error, advice);
  const facts = error instanceof Conflict ? factsOf(error) : [];
  const sentences = [inToolWords(error.message), ...facts, ...(remedy === null ? [] : [remedy])];
  return sentences.map((sentence, index) =>
    index === sentences.length - 1 || /[.!?]$/.test(sentence) ? sentence : `${sentence}.`
  ).join(" ");
}

/** Most entries of a list in an error. */
const MAX_LISTED = 20;

/** What the details of a conflict say to a model, as sentences. */
function factsOf({ message, details }: Conflict): string[] {
  const { claimed_by, expires_at, next, conflicts, tip, uuid, round, review } = details;
  const facts: string[] = [];
  // A claim whose work is done holds nothing.
  if (typeof claimed_by === "string" && !message.includes("has done")) {
    facts.push(`${claimed_by} holds the ticket until ${expires_at}`);
  }
  if (Array.isArray(next)) {
    facts.push(
      next.length === 0
        ? "No other ticket is unclaimed"
        : `Next unclaimed: ${listOf(next.map((id) => String(id).slice(0, HASH_DIGITS)))}`,
    );
  }
  if (Array.isArray(conflicts)) {
    facts.push(`Conflicts: ${listOf(conflicts.map(({ path, kind }) => `${path} (${kind})`))}`);
  }
  if (typeof tip === "string") facts.push(`The tip is now ${tip.slice(0, HASH_DIGITS)}`);
  if (typeof uuid === "string") facts.push(`The newest version is ${uuid.slice(0, HASH_DIGITS)}`);
  if (typeof round === "number") facts.push(`The newest round is ${round}`);
  if (typeof review === "number") facts.push(`See get_review with id ${review}`);
  return facts;
}

/** Most hunks of a merge's conflicts, in characters. */
const MAX_HUNKS = 16_000;

/** The hunks of a conflict, a line of JSON each, after an explanation; empty if there are none. */
export function hunksOf(error: unknown): string {
  const conflicts = error instanceof Conflict ? error.details["conflicts"] : null;
  if (!Array.isArray(conflicts)) return "";
  const lines: string[] = conflicts.flatMap(({ path, hunks = [] }) =>
    hunks.map(({ id: hunk, ancestor: before, ...sides }: Readonly<Record<string, unknown>>) =>
      JSON.stringify({ path, hunk, before, ...sides })
    )
  );
  let room = MAX_HUNKS;
  const shown = lines.filter((line) => (room -= line.length) >= 0);
  if (shown.length === 0) return "";
  const left = lines.length - shown.length;
  const more = left === 0 ? [] : [`${left} more hunks are listed once these are decided`];
  return ["\nHunks in conflict, as data:", ...shown, ...more].join("\n");
}

function listOf(entries: readonly unknown[]): string {
  const more = entries.length > MAX_LISTED ? ` and ${entries.length - MAX_LISTED} more` : "";
  return entries.slice(0, MAX_LISTED).join(", ") + more;
}

/** What is full without an end in sight says itself what to end, mostly. */
function remedyForTooMany({ message, retryAfterSeconds }: TooMany): string | null {
  if (retryAfterSeconds !== undefined) {
    return `Try again in ${Math.ceil(retryAfterSeconds)} seconds`;
  }
  return /[:;]/.test(message) ? null : "Try again later, and tell the operator if it stays so";
}

/** Null if the message itself says what to change. */
function remedyFor(error: ServiceError, advice: ToolAdvice): string | null {
  if (error instanceof Forbidden) {
    return advice.forbidden ?? "Ask the operator to allow it, or go on without it";
  }
  if (error instanceof Halted) {
    return "Only read until you are resumed: wait for a message in your inbox, and do not try again";
  }
  if (error instanceof SwitchedOff) return "Go on without it, or ask the operator to turn it on";
  if (error instanceof NotFound) return advice.notFound ?? "Check the name";
  if (error instanceof Conflict) {
    const ofMerge = Array.isArray(error.details["conflicts"]) ? advice.mergeConflict : undefined;
    return ofMerge ?? advice.conflict ?? "Change the call, or ask the operator";
  }
  if (error instanceof TooLarge) return "Make it shorter, or send it in parts";
  if (error instanceof TooMany) return remedyForTooMany(error);
  if (error instanceof Unavailable) {
    return "Try again in a few seconds, and tell the operator if that does not help";
  }
  if (error instanceof TimedOut) return advice.timedOut ?? "Try again in a few seconds";
  return null;
}

/**
 * Requests of HTTP that errors of the services name, and what a model can use in their place. A
 * request without a tool is left out.
 */
const REPLACEMENTS: readonly (readonly [RegExp, string])[] = [
  [/POST \u2026\/takeover/, "take_over_workspace"],
  [/POST \/v1\/agents\/[^/\s]+\/messages/, "send_direct"],
  [/There is no \/api\/\S* here/, "There is no such name here"],
  [/Unknown API path: \/api\/\S*/, "There is no such name here"],
  [/"ticket_uuid"/, '"ticket"'],
  [
    /There are no channels: bridge\.enabled is false in the configuration/,
    "The bridge is turned off in the configuration (bridge.enabled)",
  ],
  [/; DELETE deletes the page/, ""],
  [/ with POST \/api\/tickets\/fields/, ""],
  [/; GET \/api\/tickets\/fields lists those that they have/, ""],
];

/** The message of an error, with tools in place of requests. */
function inToolWords(message: string): string {
  return REPLACEMENTS.reduce((text, [request, tool]) => text.replace(request, tool), message);
}
