/** What a statement may read. Everything else is refused, so that a new table is never open by mistake. */
import { Refusal } from "./types.ts";

/**
 * The tables of a repository that hold its history, and nothing about accounts, settings, addresses
 * and moderation. Unversioned files are closed, because they may belong to drafts.
 */
const TABLES: ReadonlySet<string> = new Set([
  "attachment",
  "backlink",
  "blob",
  "cherrypick",
  "delta",
  "event",
  "filename",
  "forumpost",
  "leaf",
  "mlink",
  "orphan",
  "phantom",
  "plink",
  "sqlite_schema",
  "tag",
  "tagxref",
  "ticket",
  "ticketchng",
  "unclustered",
]);

/** Virtual tables that compute from their arguments or describe tables and columns. */
export const TABLE_FUNCTIONS: readonly string[] = [
  "json_each",
  "json_tree",
  "pragma_foreign_key_list",
  "pragma_index_info",
  "pragma_index_list",
  "pragma_index_xinfo",
  "pragma_table_info",
  "pragma_table_list",
  "pragma_table_xinfo",
];

/** Pragmas that take the name of a table or an index. */
const DESCRIBING_PRAGMAS: ReadonlySet<string> = new Set(
  TABLE_FUNCTIONS.filter((name) => name.startsWith("pragma_")).map((name) => name.slice(7)),
);

/** Pragmas that only show something, and change it if they get an argument. */
const SHOWING_PRAGMAS: ReadonlySet<string> = new Set([
  "application_id",
  "encoding",
  "freelist_count",
  "page_count",
  "page_size",
  "schema_version",
  "table_list",
  "user_version",
]);

/** The earlier names of the table that describes all tables. */
const SCHEMA_NAMES: ReadonlySet<string> = new Set(["sqlite_master", "sqlite_schema"]);

/** Whether rows of a table may be read. */
export function isReadableTable(name: string): boolean {
  const lower = name.toLowerCase();
  return TABLES.has(lower) || SCHEMA_NAMES.has(lower);
}

/** Whether a table function may be used. */
export function isReadableFunctionTable(name: string): boolean {
  return TABLE_FUNCTIONS.includes(name.toLowerCase());
}

/** Whether a pragma may run. */
export function isHarmlessPragma(name: string, hasArgument: boolean): boolean {
  return hasArgument ? DESCRIBING_PRAGMAS.has(name) : SHOWING_PRAGMAS.has(name);
}

/** The refusal of a table; the name is null if it is temporary. */
export function closedTable(name: string | null): Refusal {
  const shown = name === null ? "temporary tables" : `"${name}"`;
  const message = `sql_query does not read ${shown}; it reads ${[...TABLES].join(", ")}`;
  return new Refusal("forbidden", message);
}

/** The refusal of a table function, whose name may not be known. */
export function closedFunctionTable(name: string | null): Refusal {
  return new Refusal(
    "forbidden",
    `sql_query does not read ${name === null ? "this virtual table" : `"${name}"`}; ` +
      `of virtual tables it reads ${TABLE_FUNCTIONS.join(", ")}`,
  );
}

/** The refusal of a pragma. */
export function closedPragma(): Refusal {
  const list = (names: ReadonlySet<string>) => [...names].join(", ");
  return new Refusal(
    "forbidden",
    `sql_query runs these pragmas only: ${list(DESCRIBING_PRAGMAS)} with the name of a table or ` +
      `index, ${list(SHOWING_PRAGMAS)} without an argument`,
  );
}

/** The refusal of a function of SQL. */
export function closedFunction(name: string): Refusal {
  return new Refusal("forbidden", `sql_query does not run the function ${name}()`);
}

/** The refusal of a statement that is no query. */
export function notReadOnly(): Refusal {
  return new Refusal(
    "forbidden",
    "sql_query only reads: write SELECT, WITH, VALUES, EXPLAIN or a PRAGMA that describes tables",
  );
}
