/**
 * The fields of tickets for work that is given: who does it, its labels, and the tickets for which it
 * waits. They are muster's own: a repository has them from the first change on that sets one.
 */
import { TextMap } from "../text/mod.ts";
import type { Database } from "./database.ts";

export const WORK_FIELDS = ["assignee", "labels", "blocked_by"] as const;

/** What a ticket may have of them: how many labels and blockers, and characters of a label. */
export const WORK_BOUNDS = { labels: 20, label: 50, blockers: 50 } as const;

/** So much is read of such a field, in characters: other programs may write any text. */
export const MAX_WORK_TEXT = 4000;

/** Length of a whole id, and of its shortest prefix. */
const ID_LENGTH = 40;
export const MIN_TICKET_PREFIX = 4;

const IS_ID = /^[0-9a-f]+$/;

/** The labels that a field holds: between commas, each once, whatever its case. */
export function labelsIn(text: string): readonly string[] {
  const labels = new TextMap<string>();
  for (const part of text.slice(0, MAX_WORK_TEXT).split(",")) {
    const label = part.trim().replace(/\s+/g, " ").slice(0, WORK_BOUNDS.label);
    const key = label.toLowerCase();
    if (label !== "" && !labels.has(key)) labels.set(key, label);
  }
  return [...labels.values()].slice(0, WORK_BOUNDS.labels);
}

/**
 * The whole ids of the tickets that a field names by their ids or prefixes, between spaces or commas.
 * A prefix that fits no ticket, or several, names none.
 */
export function blockersIn(db: Database, text: string): readonly string[] {
  const names = text.slice(0, MAX_WORK_TEXT).toLowerCase().split(/[\s,]+/).filter((name) =>
    name.length >= MIN_TICKET_PREFIX && name.length <= ID_LENGTH && IS_ID.test(name)
  );
  const ids = [...new Set(names)].slice(0, WORK_BOUNDS.blockers).flatMap((name) => {
    if (name.length === ID_LENGTH) return [name];
    const rows = db.rows<{ uuid: string }>(
      "SELECT tkt_uuid AS uuid FROM ticket WHERE tkt_uuid>=? AND tkt_uuid<? LIMIT 2",
      name,
      `${name}g`,
    );
    return rows.length === 1 ? rows.map(({ uuid }) => uuid) : [];
  });
  return [...new Set(ids)];
}
