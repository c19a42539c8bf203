import type { Table } from "./table.ts";

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
  /** All rows in pages, in the order of the key. */
  pages(table: Table): AsyncIterable<readonly Row[]>;
}
