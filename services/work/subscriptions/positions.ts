/** Where subscriptions begin in the event log. */
import type { EventLog } from "../../engines/events/mod.ts";
import { Invalid } from "../../kernel/errors.ts";
import type { Principal } from "../../people/identity/mod.ts";
import type { EventRights, Interest, Occurrence } from "./event_types.ts";

/** From where a subscriber wants events. */
export interface Wanted {
  /** After this place, as the server gave it; null for new events alone. */
  readonly cursor: string | null;
  /** None that is older, in milliseconds. */
  readonly maxAge?: number | undefined;
}

/** A place in the log. */
export interface Position {
  /** The number of the last event before it. */
  readonly after: number;
  /** Whether events were skipped that the subscriber asked for. */
  readonly isTruncated: boolean;
}

/** A part of the log for a subscriber. */
export interface EventBatch extends Position {
  readonly events: readonly Occurrence[];
  readonly hasMore: boolean;
}

/** Digits of the number of an event. */
const CURSOR = /^\d{1,15}$/;

/** A place in the log as subscribers get it. */
export function cursorOf(after: number): string {
  return String(after);
}

/**
 * Finds where a subscriber begins.
 *
 * @param now Unix milliseconds
 * @throws Invalid if the cursor is none of this server's
 */
export async function positionOf(
  eventLog: Pick<EventLog, "newest" | "reach" | "read">,
  { cursor, maxAge }: Wanted,
  now: number,
): Promise<Position> {
  if (cursor === null) return { after: eventLog.newest, isTruncated: false };
  if (!CURSOR.test(cursor)) throw new Invalid('"cursor" must be one that this server gave');
  const asked = Number(cursor);
  await eventLog.reach(asked);
  // The log was restored from a backup.
  if (asked > eventLog.newest) return { after: eventLog.newest, isTruncated: true };
  const { oldest } = await eventLog.read({ after: asked, limit: 1 });
  let after = Math.min(Math.max(asked, oldest - 1), eventLog.newest);
  if (maxAge !== undefined) after = await lastBefore(eventLog, after, now - maxAge);
  return { after, isTruncated: after > asked };
}

/** The last event after a number that is older than a time, or the number: by halves. */
async function lastBefore(
  eventLog: Pick<EventLog, "newest" | "read">,
  after: number,
  time: number,
): Promise<number> {
  let [low, high] = [after, eventLog.newest];
  while (low < high) {
    const middle = low + Math.ceil((high - low) / 2);
    const { events: [event] } = await eventLog.read({ after: middle - 1, limit: 1 });
    if (event !== undefined && Date.parse(event.time) < time) low = middle;
    else high = middle - 1;
  }
  return low;
}

/**
 * Reads the next events for a subscriber.
 *
 * @param limit most events
 * @throws Invalid if the cursor is none of this server's
 */
export async function nextEvents(
  eventLog: Pick<EventLog, "newest" | "reach" | "read">,
  rights: EventRights,
  { interest, principal, limit, now, ...wanted }: Wanted & {
    readonly interest: Interest;
    readonly principal: Principal;
    readonly limit: number;
    readonly now: number;
  },
): Promise<EventBatch> {
  const { after, isTruncated } = await positionOf(eventLog, wanted, now);
  if (wanted.cursor === null) return { events: [], after, isTruncated, hasMore: false };
  const { name, project } = interest;
  const page = await eventLog.read({
    after,
    types: [name],
    limit,
    ...project === null ? {} : { project },
  });
  const events = page.events.flatMap((event) =>
    rights.occurrence(event, interest, principal) ?? []
  );
  return { events, after: page.cursor, isTruncated, hasMore: page.more };
}
