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
const IS_WORD = /^\s*(\w+)\s*={1,2}\s*('(?:[^']|'')+')\s*$/;
const IS_ONE_OF = /^\s*(\w+)\s+IN\s*\(((?:\s*'(?:[^']|'')+'\s*,?)+)\)\s*$/i;

/** The choices for a resolution, as the ticket pages of the `fossil` program list them. */
const RESOLUTIONS = /\bset\s+resolution_choices\s+\{([^}]*)\}/;

const DONE = "Fixed";

/**
 * Reads the settings `ticket-closed-expr` and `ticket-common` of a repository. The expression is
 * never evaluated: if it is not a comparison with words, the status "Closed" closes a ticket.
 */
export function readTicketClosing(db: Database, config: Config): TicketClosing {
  const columns = new Set(db.columns("ticket"));
  const [, column = "status", list = "'Closed'"] = wordsOf(config.get("ticket-closed-expr") ?? "");
  const statuses = list.match(/'(?:[^']|'')+'/g) ?? [];
  return {
    column: columns.has(column) && !column.startsWith("tkt_") ? column : null,
    statuses: statuses.map((word) => word.slice(1, -1).replaceAll("''", "'")),
    resolution: columns.has("resolution") ? resolutionOf(config.get("ticket-common") ?? "") : null,
  };
}

function wordsOf(expression: string): readonly string[] {
  return IS_WORD.exec(expression) ?? IS_ONE_OF.exec(expression) ?? [];
}

/** "Fixed", or the first other choice for a ticket that is not open. */
function resolutionOf(script: string): string {
  const choices = RESOLUTIONS.exec(script)?.[1]?.split(/\s+/).filter((word) => word !== "") ?? [];
  if (choices.length === 0 || choices.includes(DONE)) return DONE;
  return choices.find((word) => word !== "Open") ?? DONE;
}
