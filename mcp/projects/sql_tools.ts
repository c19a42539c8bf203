import { z } from "zod";
import { Invalid } from "../../services/kernel/errors.ts";
import type { QueryResult } from "../../services/engines/fossil/sql/mod.ts";
import { amount } from "../../services/kernel/words.ts";
import { getProject } from "../../services/work/projects/operations.ts";
import { MAX_SQL, QUERY_LIMITS } from "../../services/work/queries/mod.ts";
import { type Tool, tool } from "../tool.ts";

/** Characters of the rows in an answer. */
const MAX_CHARS = 40_000;

/** One statement that only reads, on the repository of a project. */
const sqlQuery = tool({
  name: "sql_query",
  description:
    "Runs a read-only SQL statement (SELECT, WITH, VALUES, EXPLAIN, PRAGMA table_info) on a " +
    "project's Fossil repository, for questions that no other tool answers. Begin with " +
    '"SELECT name, sql FROM sqlite_schema". Tables: event (mtime is a Julian day), blob, mlink, ' +
    "plink, filename, tag, tagxref, ticket, ticketchng. Artifacts in blob are compressed. Limits: " +
    `${QUERY_LIMITS.milliseconds / 1000} seconds, ${QUERY_LIMITS.rows} rows, 1 MiB.`,
  does: getProject,
  input: {
    sql: z.string().max(MAX_SQL).describe("One statement in SQLite's SQL"),
    max_chars: z.int().min(1000).max(QUERY_LIMITS.bytes).default(MAX_CHARS)
      .describe("Longest answer, in characters"),
  },
  output: {
    columns: z.array(z.string()),
    rows: z.array(z.array(z.union([z.string(), z.number(), z.null()]))),
    count: z.int().describe("The number of rows in this answer"),
    cut_off: z.string().nullable().describe("What is missing and how to get it; null if nothing"),
  },
  advice: {
    notFound: "list_projects names the projects that you may read",
    forbidden: "Change the statement",
  },
  async run({ sql, max_chars }, { api, slug, context: { caller, signal } }) {
    return describe(await api.query(slug, { sql, signal }, caller), max_chars);
  },
});

/** Characters that the last line of an answer may take. */
const LAST_LINE = 250;

/** @throws Invalid if not even the names of the columns fit */
function describe(result: QueryResult, maxChars: number) {
  const lines = [`columns: ${JSON.stringify(result.columns)}`];
  const rows: QueryResult["rows"][number][] = [];
  let room = maxChars - LAST_LINE - (lines[0]?.length ?? 0);
  for (const row of result.rows) {
    const line = JSON.stringify(row);
    room -= line.length + 1;
    if (room < 0) break;
    lines.push(line);
    rows.push(row);
  }
  if (room < 0 && rows.length === 0) {
    throw new Invalid(
      `The first row does not fit in ${maxChars} characters: raise "max_chars" to ` +
        `${Math.min(maxChars - room, QUERY_LIMITS.bytes)}, or select less of it, as with substr()`,
    );
  }
  const cutOff = cutOffOf(result, rows.length);
  const count = rows.length;
  lines.push(`${count} ${count === 1 ? "row" : "rows"}${cutOff === null ? "" : `. ${cutOff}`}`);
  const data = { columns: result.columns, rows, count, cut_off: cutOff };
  return { text: lines.join("\n"), data };
}

/** What is missing, and how to read on; null if nothing is. */
function cutOffOf({ rows, cut }: QueryResult, shown: number): string | null {
  const next = `Order the rows and go on with LIMIT and OFFSET ${shown}, or select less`;
  if (shown < rows.length) {
    const more = cut === null ? amount(rows.length - shown, "more row") : "More rows";
    return `${more} did not fit into max_chars. ${next}`;
  }
  if (cut === null) return null;
  const limit = cut === "rows" ? `${QUERY_LIMITS.rows} rows` : "1 MiB";
  return `The statement was stopped at the limit of ${limit}; there are more rows. ${next}`;
}

/** `sql_query`. */
export const sqlTools: readonly Tool[] = [sqlQuery];
