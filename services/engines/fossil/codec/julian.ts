/** Unix epoch as a Julian day, in milliseconds. */
const EPOCH_JULIAN_MS = 210_866_760_000_000;
const MS_PER_DAY = 86_400_000;

/** The Julian day of a time in Unix milliseconds, as SQLite's `julianday()` computes it. */
export function toJulianDay(unixMs: number): number {
  return (unixMs + EPOCH_JULIAN_MS) / MS_PER_DAY;
}

/** The time, in whole Unix milliseconds, of a Julian day. */
export function fromJulianDay(day: number): number {
  return Math.round(day * MS_PER_DAY) - EPOCH_JULIAN_MS;
}

/** A time in Unix milliseconds in the form of a D card: `2026-01-02T03:04:05.678`, always UTC. */
export function formatDate(unixMs: number): string {
  return new Date(unixMs).toISOString().slice(0, 23);
}

const DATE =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d(?:\.\d+)?))?)?(Z|[+-]\d\d:\d\d)?$/;

/**
 * Reads the date of a D or E card, or of a `date` tag, in the forms SQLite reads: date, optional
 * time, optional zone. As in SQLite, a day that the month does not have continues in the next
 * month.
 *
 * @returns Unix milliseconds, or null if the text is not a date.
 */
export function parseDate(text: string): number | null {
  const match = DATE.exec(text);
  if (match === null) return null;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  const [hour, minute] = [Number(match[4] ?? 0), Number(match[5] ?? 0)];
  const ms = Math.floor(Number(match[6] ?? 0) * 1000 + 0.5);
  if (month < 1 || month > 12 || day < 1 || day > 31) return null;
  if (hour > 24 || minute > 59 || ms >= 60_000) return null;
  const moment = new Date(0);
  moment.setUTCFullYear(year, month - 1, day);
  return moment.getTime() + (hour * 60 + minute - zoneMinutes(match[7])) * 60_000 + ms;
}

function zoneMinutes(zone: string | undefined): number {
  if (zone === undefined || zone === "Z") return 0;
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4, 6));
  return zone.startsWith("-") ? -minutes : minutes;
}
