import { quietText } from "../../services/people/work_states.ts";
import { timeAgo } from "./time_ago.ts";

/** How often the words of a time are renewed, in milliseconds. */
const RENEWAL = 60_000;

/** Keeps "3 hours ago" and "quiet for 4 min" current on a page that stays open. */
export function startTimes(): void {
  setInterval(() => {
    if (document.hidden) return;
    for (const time of document.querySelectorAll<HTMLTimeElement>("time[title]")) {
      time.textContent = timeAgo(Date.parse(time.dateTime), Date.now());
    }
    for (const quiet of document.querySelectorAll<HTMLElement>("[data-quiet-since]")) {
      const minutes = (Date.now() - Number(quiet.dataset["quietSince"])) / 60_000;
      quiet.textContent = quietText(Math.floor(minutes));
    }
  }, RENEWAL);
}
