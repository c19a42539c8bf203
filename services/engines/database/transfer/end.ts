import { quoted, type Table } from "./table.ts";

/** A value on its way. Whole numbers are texts, so that each is exact. */
export type Value = string | number | null;

/** A row: the values of all columns of its table. */
export type Row = readonly Value[];

/** Rows that are read at once. */
export const PAGE = 500;

/** One of the two databases, within one transaction. */
export interface End {
  begin(): Promise<void>;
  commit(): Promise<void>;
  /** Ends the transaction without a change. */
  rollBack(): Promise<void>;
  count(table: Table): Promise<number>;
  clear(table: Table): Promise<void>;
  insert(table: Table, rows: readonly Row[]): Promise<void>;
  /** Lets the numbers that a table gives to new rows go on after those that it has. */
  settle(table: Table): Promise<void>;
  /** The next rows in the order of the key, at most {@linkcode PAGE}. */
  read(table: Table, after: Row | null): Promise<readonly Row[]>;
}

/** All rows of a table in pages, in the order of the key. */
export async function* pagesOf(end: End, table: Table): AsyncGenerator<readonly Row[]> {
  for (let last: Row | null = null;;) {
    const page: readonly Row[] = await end.read(table, last);
    if (page.length > 0) yield page;
    if (page.length < PAGE) return;
    last = page.at(-1) ?? null;
  }
}

/**
 * The end of a query for the rows after one, in either database.
 *
 * @param place gives the placeholder of a parameter, counted from 1
 */
export function orderedAfter(
  table: Table,
  after: Row | null,
  place: (parameter: number) => string,
): string {
  const key = table.key.map((column) => `${quoted(table.name)}.${quoted(column)}`).join();
  const places = table.key.map((_, index) => place(index + 1)).join();
  const where = after === null ? "" : `WHERE (${key}) > (${places}) `;
  return `${where}ORDER BY ${key} LIMIT ${PAGE}`;
}

/** The values of the key in a row. */
export function keyOf(table: Table, row: Row): Row {
  const indexes = table.key.map((name) => table.columns.findIndex((one) => one.name === name));
  return indexes.map((index) => row[index] ?? null);
}
