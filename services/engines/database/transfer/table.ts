import type { DatabaseSync } from "node:sqlite";

/** How a column is read and written in either database. */
export type Kind = "integer" | "real" | "text";

export interface Column {
  readonly name: string;
  readonly kind: Kind;
  /** Whether SQLite computes it, so that it takes no value there. */
  readonly isComputed: boolean;
}

export interface Table {
  readonly name: string;
  readonly columns: readonly Column[];
  /** The columns of the primary key, none of which may be null. */
  readonly key: readonly string[];
}

const KINDS: Readonly<Record<string, Kind>> = {
  INTEGER: "integer",
  REAL: "real",
  TEXT: "text",
};

/** The tables of a schema, each after those that it refers to. */
export function tablesOf(database: DatabaseSync): readonly Table[] {
  const names = database.prepare(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'" +
      " ORDER BY name",
  ).all().map(({ name }) => String(name));
  const ordered = new Set<string>();
  const place = (name: string, path: readonly string[]) => {
    if (ordered.has(name)) return;
    if (path.includes(name)) throw new Error(`The tables ${path.join(", ")} refer to each other`);
    for (const next of referred(database, name)) {
      // Rows come in the order of their keys: one that refers to its own table, to an older one.
      if (next !== name) place(next, [...path, name]);
    }
    ordered.add(name);
  };
  for (const name of names) place(name, []);
  return Array.from(ordered, (name) => describe(database, name));
}

function referred(database: DatabaseSync, name: string): readonly string[] {
  return database.prepare('SELECT DISTINCT "table" AS name FROM pragma_foreign_key_list(?)')
    .all(name).map((row) => String(row["name"]));
}

function describe(database: DatabaseSync, name: string): Table {
  const rows = database.prepare(
    "SELECT name, type, pk, hidden FROM pragma_table_xinfo(?) ORDER BY cid",
  ).all(name);
  const columns = rows.map((row): Column => {
    const kind = KINDS[String(row["type"])];
    if (kind === undefined) throw new Error(`The table ${name} has a column of an unknown type`);
    return { name: String(row["name"]), kind, isComputed: Number(row["hidden"]) > 0 };
  });
  const key = rows.filter(({ pk }) => Number(pk) > 0)
    .toSorted((one, other) => Number(one["pk"]) - Number(other["pk"]))
    .map((row) => String(row["name"]));
  if (key.length === 0) throw new Error(`The table ${name} has no primary key`);
  return { name, columns, key };
}

/** The columns of the key. */
export function keyColumns({ columns, key }: Table): readonly Column[] {
  return key.flatMap((name) => columns.filter((column) => column.name === name));
}

/** A name as SQL has it, in either database. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
