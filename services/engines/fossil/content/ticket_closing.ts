import type { Config } from "./config.ts";
import type { Database } from "./database.ts";

/** The properties of a repository's closed tickets. */
export interface TicketClosing {
  /** The field with the status; null if tickets have none. */
  readonly column: string | null;
  /** The values of that field that mean closed; the first one is written. */
  readonly statuses: readonly string[];
  /** The value of the field `resolution` for finished work; null if tickets have no such field. */
  readonly resolution: string | null;
}

/** The supported forms of `ticket-closed-expr`: a field equals one word, or one of several. */
const IS_WORD = /^(\w+)\s*={1,2}([^]*)$/;
const IS_ONE_OF = /^(\w+)\s+IN\s*\(([^]*)\)$/i;

/** A word in quotes. */
const WORD = /'(?:[^']|'')*'/y;

/** The choices for a resolution, as the ticket pages of the `fossil` program list them. */
const RESOLUTIONS = /\bset\s+resolution_choices\s+\{([^{}]*)\}/;

const DONE = "Fixed";

/**
 * Reads the settings `ticket-closed-expr` and `ticket-common` of a repository. The expression is
 * never evaluated: if it is not a comparison with words, the status "Closed" closes a ticket.
 */
export function readTicketClosing(db: Database, config: Config): TicketClosing {
  const columns = new Set(db.columns("ticket"));
  const { column, statuses } = comparisonIn(config.get("ticket-closed-expr") ?? "");
  return {
    column: columns.has(column) && !column.startsWith("tkt_") ? column : null,
    statuses,
    resolution: columns.has("resolution") ? resolutionOf(config.get("ticket-common") ?? "") : null,
  };
}

/** The field that an expression compares, and the words with which it does. */
function comparisonIn(expression: string): { column: string; statuses: readonly string[] } {
  const text = expression.trim();
  for (const [pattern, most] of [[IS_WORD, 1], [IS_ONE_OF, Infinity]] as const) {
    const [, column, list = ""] = pattern.exec(text) ?? [];
    const statuses = column === undefined ? null : wordsIn(list);
    if (column !== undefined && statuses !== null && statuses.length <= most) {
      return { column, statuses };
    }
  }
  return { column: "status", statuses: ["Closed"] };
}

/** The words of a list; null if it has none, or holds anything else. */
function wordsIn(list: string): readonly string[] | null {
  const words: string[] = [];
  for (let at = 0; at < list.length;) {
    if (/[\s,]/.test(list.charAt(at))) {
      at++;
      continue;
    }
    WORD.lastIndex = at;
    const [word] = WORD.exec(list) ?? [];
    if (word === undefined || word.length === 2) return null;
    words.push(word.slice(1, -1).replaceAll("''", "'"));
    at += word.length;
  }
  return words.length === 0 ? null : words;
}

/** "Fixed", or the first other choice for a ticket that is not open. */
function resolutionOf(script: string): string {
  const choices = RESOLUTIONS.exec(script)?.[1]?.split(/\s+/).filter((word) => word !== "") ?? [];
  if (choices.length === 0 || choices.includes(DONE)) return DONE;
  return choices.find((word) => word !== "Open") ?? DONE;
}
