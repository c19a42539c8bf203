import { timeAgo } from "../elements/time_ago.ts";

/**
 * A time as the person reads it: "3 hours ago", and exactly in the title. The script keeps it
 * current.
 *
 * @param at ISO 8601, UTC
 * @param now Unix milliseconds
 */
export function Time({ at, now = Date.now() }: { readonly at: string; readonly now?: number }) {
  return <time datetime={validTime(at)} title={exactly(at)}>{timeAgo(Date.parse(at), now)}</time>;
}

/** A time for `datetime`: HTML allows three digits of a fraction at most. */
export function validTime(at: string): string {
  return at.replace(/(\.\d{3})\d+/, "$1");
}

function exactly(at: string): string {
  return `${at.slice(0, 10)} ${at.slice(11, 19)} UTC`;
}
