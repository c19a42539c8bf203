import { exactly, timeAgo, validTime } from "../elements/time_ago.ts";

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
