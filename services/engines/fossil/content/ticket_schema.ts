import { FossilError } from "../error.ts";
import type { Config } from "./config.ts";
import type { Database } from "./database.ts";
import { DEFAULT_TICKET_SCHEMA } from "./schema.ts";

/** Longest accepted text of the config row `ticket-table`, in characters. */
const MAX_SCHEMA_LENGTH = 100_000;

/** The statements that a ticket schema may have: the two tables, and indexes on them. */
const ALLOWED = [
  /^create\s+table\s+(?:if\s+not\s+exists\s+)?["[`]?(?:ticket|ticketchng|fx_\w+)["\]`]?\s*\(/i,
  /^create\s+(?:unique\s+)?index\s+(?:if\s+not\s+exists\s+)?\S+\s+on\s+["[`]?(?:ticket|ticketchng|fx_\w+)["\]`]?\s*\(/i,
];

/** The text that defines the repository's ticket tables. */
export function ticketSchemaOf(config: Config): string {
  return config.get("ticket-table") ?? DEFAULT_TICKET_SCHEMA;
}

/**
 * Recreates the tables `ticket` and `ticketchng` as the config row `ticket-table` defines them.
 * That row is not trusted: only the tables and their indexes are accepted.
 *
 * @throws {FossilError} `unsupported` if the row has any other statement.
 */
export function createTicketTables(db: Database, config: Config): void {
  const statements = splitStatements(ticketSchemaOf(config));
  for (const statement of statements) {
    if (ALLOWED.some((form) => form.test(statement)) && !/\bselect\b/i.test(statement)) continue;
    throw new FossilError("unsupported", "The ticket schema has a statement that is not allowed");
  }
  db.exec("DROP TABLE IF EXISTS ticket; DROP TABLE IF EXISTS ticketchng;");
  for (const statement of statements) db.exec(statement);
}

/** Statements without comments. Quoted text is kept, semicolons in it do not end a statement. */
function splitStatements(schema: string): string[] {
  if (schema.length > MAX_SCHEMA_LENGTH) {
    throw new FossilError("limit", "The ticket schema is too long");
  }
  const tokens = schema.match(TOKEN) ?? [];
  const statements: string[] = [""];
  for (const token of tokens) {
    if (token === ";") statements.push("");
    else statements[statements.length - 1] += isComment(token) ? " " : token;
  }
  return statements.map((statement) => statement.trim()).filter((statement) => statement !== "");
}

const TOKEN =
  /--[^\n]*|\/\*(?:[^*]|\*(?!\/))*\*?\/?|'(?:[^']|'')*'?|"(?:[^"]|"")*"?|`[^`]*`?|\[[^\]]*\]?|;|[^;'"`[\-/]+|[-/]/g;

function isComment(token: string): boolean {
  return token.startsWith("--") || token.startsWith("/*");
}

/**
 * A query for the rows of `ticket`, without a condition; null if there is no such table. Fields are
 * read as text: a column of numbers can hold one that JavaScript cannot.
 */
export function ticketRowsQuery(db: Database): string | null {
  const terms = db.columns("ticket").map((column) => {
    const quoted = `"${column.replaceAll('"', '""')}"`;
    return column.startsWith("tkt_") ? quoted : `CAST(${quoted} AS TEXT) AS ${quoted}`;
  });
  return terms.length === 0 ? null : `SELECT ${terms.join(", ")} FROM ticket`;
}
