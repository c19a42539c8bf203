/** Words for times that the server and the browser share. */

/** Units of time for people, the longest first. */
const UNITS: readonly (readonly [seconds: number, word: string])[] = [
  [31_557_600, "year"],
  [2_629_800, "month"],
  [604_800, "week"],
  [86_400, "day"],
  [3_600, "hour"],
  [60, "minute"],
];

/** How long ago a time was, in words; both are in Unix milliseconds. */
export function timeAgo(at: number, now: number): string {
  const seconds = Math.abs(now - at) / 1000;
  const unit = UNITS.find(([length]) => seconds >= length);
  if (unit === undefined) return "just now";
  const count = Math.floor(seconds / unit[0]);
  const words = `${count} ${unit[1]}${count === 1 ? "" : "s"}`;
  return now >= at ? `${words} ago` : `in ${words}`;
}

/** A time for `datetime`: HTML allows three digits of a fraction at most. */
export function validTime(at: string): string {
  return at.replace(/(\.\d{3})\d+/, "$1");
}

/** A time to the second. */
export function exactly(at: string): string {
  return `${at.slice(0, 10)} ${at.slice(11, 19)} UTC`;
}
