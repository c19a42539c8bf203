/** For how long a budget is. Both begin at midnight in UTC. */
export const PERIODS = ["day", "month"] as const;
export type Period = (typeof PERIODS)[number];

const DAY = 86_400_000;

/** Days since 1970-01-01, in UTC. */
export function dayOf(milliseconds: number): number {
  return Math.floor(milliseconds / DAY);
}

/** A day as `2026-11-23`. */
export function dateOf(day: number): string {
  return new Date(day * DAY).toISOString().slice(0, 10);
}

/** The day of a date such as `2026-11-23`; null if there is no such date. */
export function dayOfDate(date: string): number | null {
  const time = Date.parse(`${date}T00:00:00Z`);
  return Number.isNaN(time) || dateOf(dayOf(time)) !== date ? null : dayOf(time);
}

/** When the period of a time begins, in Unix milliseconds. */
export function startOf(period: Period, now: number): number {
  if (period === "day") return dayOf(now) * DAY;
  const date = new Date(now);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth());
}

/** When the period of a time ends, in Unix milliseconds. */
export function endOf(period: Period, now: number): number {
  if (period === "day") return (dayOf(now) + 1) * DAY;
  const date = new Date(now);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
}
