import type { ColumnType } from "kysely";

/** A column that is written once, when the row is made. */
export type Fixed<T> = ColumnType<T, T, never>;
