/** What a text for a model says shorter than the structured result: hashes, and times. */

const HASH = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** How many digits of a hash a text has; every argument takes so many. */
export const HASH_DIGITS = 12;

const HASHES: ReadonlySet<string> = new Set([
  ...["uuid", "checkin", "base", "tip", "parent", "parents", "parent_uuid", "from", "to"],
  ...["merged_as", "ticket", "ticket_uuid"],
]);

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/;

const TIMES: ReadonlySet<string> = new Set([
  ...["created", "last_modified", "timestamp", "date", "last_commit_time"],
]);

const SECOND = 1000;
const UNITS = [["d", 86_400], ["h", 3600], ["min", 60], ["s", 1]] as const;

/** From so many days on, a time is a day. */
const DAYS = 30;

/**
 * The value of a field as a text has it.
 *
 * @param now Unix milliseconds
 */
export function shortValue(field: string, value: unknown, now: number): unknown {
  if (HASHES.has(field)) return Array.isArray(value) ? value.map(shortHash) : shortHash(value);
  if (typeof value !== "string" || !TIME.test(value)) return value;
  return TIMES.has(field) || field.endsWith("_at") ? relativeTime(value, now) : value;
}

function shortHash(value: unknown): unknown {
  return typeof value === "string" && HASH.test(value) ? value.slice(0, HASH_DIGITS) : value;
}

/** A time as "3 min ago" or "in 2 h"; the day of one that is far away. */
function relativeTime(time: string, now: number): string {
  const seconds = Math.floor(Math.abs(Date.parse(time) - now) / SECOND);
  const [unit, size] = UNITS.find(([, size]) => seconds >= size) ?? ["s", 1];
  const count = Math.floor(seconds / size);
  if (unit === "d" && count >= DAYS) return time.slice(0, time.indexOf("T"));
  return Date.parse(time) > now ? `in ${count} ${unit}` : `${count} ${unit} ago`;
}
