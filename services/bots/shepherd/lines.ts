import { amount } from "../../amount.ts";
import { type Assignment, isSame } from "./plan_book.ts";
import type { ProjectWork } from "./project_work.ts";

/** Lines of each kind in an answer. */
const SHOWN = 10;

/** The open tickets of a project. */
export function linesOfWork({ project, unclaimed, unclaimedTotal, claims }: ProjectWork): string[] {
  const open = unclaimed.slice(0, SHOWN).map(({ id, title }) =>
    `Ticket ${id} of ${project}: ${title} (unclaimed)`
  );
  const more = unclaimedTotal - open.length;
  return [
    ...open,
    ...more > 0 ? [`… and ${amount(more, "more unclaimed ticket")} of ${project}`] : [],
    ...shown(claims, ({ id, title, agent }) => `Ticket ${id} of ${project}: ${title} (${agent})`),
  ];
}

/** A task, and when its owner last said how it is. */
export function taskLine(
  { number, account, task, heardAt, note }: Assignment,
  now: number,
): string {
  const minutes = Math.round((now - heardAt) / 60_000);
  const when = minutes === 0 ? "just now" : `${amount(minutes, "minute")} ago`;
  const said = note === "" ? "" : `, last: ${note}`;
  return `Task ${number}: ${account} – ${task} (heard of ${when}${said})`;
}

/** The lines of the first few, and how many more there are. */
export function shown<One>(all: readonly One[], line: (one: One) => string): string[] {
  const more = all.length - SHOWN;
  return [...all.slice(0, SHOWN).map(line), ...more > 0 ? [`… and ${more} more`] : []];
}

/** The text without the name of the channel that it is about. */
export function textWithout(text: string, channel: string | null): string {
  if (channel === null) return text.trim();
  const words = text.trim().split(/\s+/);
  const index = [0, words.length - 1].find((at) => isSame(words[at] ?? "", channel));
  return (index === undefined ? words : words.toSpliced(index, 1)).join(" ");
}
