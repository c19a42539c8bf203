import type { Config } from "./config.ts";
import type { Database } from "./database.ts";

/** What makes a ticket of a repository a closed one. */
export interface TicketClosing {
  /** The field that holds the status; null where tickets have none. */
  readonly column: string | null;
  /** The words of that field that mean closed; the first is written. */
  readonly statuses: readonly string[];
  /** What the field `resolution` says of work that was done; null where tickets have no such field. */
  readonly resolution: string | null;
}

/** The forms of `ticket-closed-expr` that are read: a field that is one word, or one of several. */
const IS_WORD = /^\s*(\w+)\s*={1,2}\s*('(?:[^']|'')+')\s*$/;
const IS_ONE_OF = /^\s*(\w+)\s+IN\s*\(((?:\s*'(?:[^']|'')+'\s*,?)+)\)\s*$/i;

/** The choices for a resolution, as the ticket pages of the `fossil` program list them. */
const RESOLUTIONS = /\bset\s+resolution_choices\s+\{([^}]*)\}/;

const DONE = "Fixed";

/**
 * Reads the settings `ticket-closed-expr` and `ticket-common` of a repository. The expression is never
 * evaluated: where it has another form than a comparison with words, tickets are closed by "Closed".
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
