/**
 * Times of messages: whole microseconds since 1970, which a number holds exactly until the year
 * 2255, written as ISO 8601 in UTC with six digits after the second.
 */

/** Of a second. */
const MICROSECONDS = 1_000_000;

const ISO_8601 = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/;

/** Assigns each message of a log a strictly increasing time. */
export class Stamps {
  #last: number;

  /** @param last the time of the message before the first, in microseconds since 1970 */
  constructor(last = 0) {
    this.#last = last;
  }

  /** Microseconds since 1970 for the next message, accepted at the given time in milliseconds. */
  next(milliseconds: number): number {
    this.#last = Math.max(milliseconds * 1000, this.#last + 1);
    return this.#last;
  }
}

/**
 * Formats times as {@link formatMicroseconds} does. Times of the same second share their beginning,
 * which takes the most work.
 */
export class MicrosecondTexts {
  #second = NaN;
  /** To the point after the second. */
  #start = "";

  /** @param microseconds since 1970 */
  of(microseconds: number): string {
    const second = Math.floor(microseconds / MICROSECONDS);
    if (second !== this.#second) {
      this.#second = second;
      this.#start = formatMicroseconds(second * MICROSECONDS).slice(0, -"000000Z".length);
    }
    return `${this.#start}${String(microseconds - second * MICROSECONDS).padStart(6, "0")}Z`;
  }
}

/** Formats microseconds since 1970 as `2026-11-20T23:18:00.123456Z`. */
export function formatMicroseconds(microseconds: number): string {
  const milliseconds = Math.floor(microseconds / 1000);
  const rest = String(microseconds % 1000).padStart(3, "0");
  return `${new Date(milliseconds).toISOString().slice(0, -1)}${rest}Z`;
}

/**
 * Parses an ISO 8601 time with a zone; truncates it to microseconds.
 *
 * @returns microseconds since 1970, or null if the text is not such a time
 */
export function parseMicroseconds(text: string): number | null {
  const [, seconds, fraction = "", zone] = ISO_8601.exec(text) ?? [];
  if (seconds === undefined || zone === undefined) return null;
  const milliseconds = Date.parse(`${seconds}${zone}`);
  if (Number.isNaN(milliseconds)) return null;
  return milliseconds * 1000 + Number(fraction.slice(0, 6).padEnd(6, "0"));
}
