import { timeAgo } from "./time_ago.ts";

/** How often the words of a time are renewed, in milliseconds. */
const RENEWAL = 60_000;

/** Keeps "3 hours ago" current on a page that stays open. */
export function startTimes(): void {
  setInterval(() => {
    if (document.hidden) return;
    for (const time of document.querySelectorAll<HTMLTimeElement>("time[title]")) {
      time.textContent = timeAgo(Date.parse(time.dateTime), Date.now());
    }
  }, RENEWAL);
}
