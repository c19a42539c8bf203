/** Selects the entries of a log in memory for a CHATHISTORY query. */

import type { HistoryPart, HistoryQuery, HistoryReference } from "./store.ts";
import type { HistoryEntry } from "./log.ts";

/** A part of a log. */
export interface Selection {
  readonly entries: readonly HistoryEntry[];
  /** Whether entries before the start of the log could not add to it. */
  readonly whole: boolean;
}

/** The position of a reference among entries. */
interface Position {
  /** The number of entries before it. */
  readonly before: number;
  /** The first entry after it. */
  readonly after: number;
  /** Whether it is within the log. */
  readonly inside: boolean;
}

/** A range of entries; a start below 0 asks for more than the log has. */
type Range = readonly [from: number, to: number];

/** Selects the entries of a log that the query asks for, the oldest first. */
export function select(
  log: readonly HistoryEntry[],
  { part, limit, upTo }: HistoryQuery,
): Selection {
  const shown = log.filter(({ kind }) => kind <= upTo);
  const positions: Position[] = [];
  for (const reference of referencesOf(part)) {
    const position = locate(log, shown, reference);
    if (position === null) return { entries: [], whole: false };
    positions.push(position);
  }
  const [from, to] = rangeOf(part, shown.length, limit, positions);
  return {
    entries: shown.slice(Math.max(from, 0), to),
    whole: from >= 0 && positions.every(({ inside }) => inside),
  };
}

function referencesOf(part: HistoryPart): HistoryReference[] {
  switch (part.kind) {
    case "latest":
      return part.since === null ? [] : [part.since];
    case "between":
      return [part.first, part.second];
    default:
      return [part.reference];
  }
}

function rangeOf(
  part: HistoryPart,
  length: number,
  limit: number,
  [first = endOf(length), second = endOf(length)]: readonly Position[],
): Range {
  switch (part.kind) {
    case "latest": {
      const since = part.since === null ? -Infinity : first.after;
      return [Math.max(since, length - limit), length];
    }
    case "before":
      return [first.before - limit, first.before];
    case "after":
      return [first.after, first.after + limit];
    case "around": {
      const from = first.before - Math.floor(limit / 2);
      return [from, Math.max(from, 0) + limit];
    }
    case "between":
      return first.before <= second.before
        ? [first.after, Math.min(first.after + limit, second.before)]
        : [Math.max(second.after, first.before - limit), first.before];
  }
}

function endOf(length: number): Position {
  return { before: length, after: length, inside: true };
}

/**
 * The position of a reference among the shown entries, even if its own message is not shown; null
 * if the log does not have it.
 */
function locate(
  log: readonly HistoryEntry[],
  shown: readonly HistoryEntry[],
  reference: HistoryReference,
): Position | null {
  if ("id" in reference) {
    const { id } = reference;
    const index = log.findIndex((entry) => entry.id === id);
    if (index === -1) return null;
    const before = shownBefore(log, shown, index);
    return { before, after: shown[before]?.id === id ? before + 1 : before, inside: true };
  }
  const { time } = reference;
  const before = shown.findIndex((entry) => entry.time >= time);
  const after = shown.findIndex((entry) => entry.time > time);
  return {
    before: before === -1 ? shown.length : before,
    after: after === -1 ? shown.length : after,
    inside: time > (log[0]?.time ?? Infinity),
  };
}

/** Counts the shown entries before a place in the log. */
function shownBefore(
  log: readonly HistoryEntry[],
  shown: readonly HistoryEntry[],
  index: number,
): number {
  let count = 0;
  for (let position = 0; position < index; position++) {
    if (shown[count] === log[position]) count++;
  }
  return count;
}
