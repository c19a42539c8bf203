import { DatabaseError } from "../migrate.ts";
import { type End, pagesOf, type Row } from "./end.ts";
import type { Table } from "./table.ts";

/** The table with the name that a new database gives itself. */
const GIVEN = "instance";

export interface CopyOptions {
  readonly source: End;
  readonly target: End;
  /** What an error calls the target. */
  readonly targetName: string;
  readonly onProgress: (done: number, total: number) => void;
}

/** What was copied. */
export interface TransferReport {
  readonly tables: number;
  readonly rows: number;
}

/**
 * Copies all rows to a database without any, and compares each with what it holds then. If that
 * fails, the target stays as it was.
 *
 * @throws DatabaseError if the target has rows, or holds something else than it was given
 */
export async function copy(
  tables: readonly Table[],
  options: CopyOptions,
): Promise<TransferReport> {
  const { source, target } = options;
  await source.begin();
  try {
    await target.begin();
    try {
      const rows = await copyAll(tables, options);
      await target.commit();
      return { tables: tables.length, rows };
    } catch (error) {
      // A connection that is lost has lost its transaction, too.
      await target.rollBack().catch(() => {});
      throw error;
    }
  } finally {
    await source.rollBack().catch(() => {});
  }
}

async function copyAll(tables: readonly Table[], options: CopyOptions): Promise<number> {
  const { source, target, targetName, onProgress } = options;
  let total = 0;
  for (const table of tables) {
    if (table.name !== GIVEN && await target.count(table) > 0) {
      throw new DatabaseError(`${targetName} is in use: it has rows in the table ${table.name}`);
    }
    total += await source.count(table);
  }
  let done = 0;
  const progress = (rows: number) => onProgress(done += rows, 2 * total);
  for (const table of tables) {
    if (table.name === GIVEN) await target.clear(table);
    await copyTable(table, options, progress);
    await target.settle(table);
  }
  for (const table of tables) await compare(table, options, progress);
  return total;
}

/** @throws DatabaseError if not every row can be read */
async function copyTable(
  table: Table,
  { source, target }: CopyOptions,
  onPage: (rows: number) => void,
): Promise<void> {
  let rows = 0;
  for await (const page of pagesOf(source, table)) {
    await target.insert(table, page);
    rows += page.length;
    onPage(page.length);
  }
  if (rows !== await source.count(table)) {
    throw new DatabaseError(`Not every row of the table ${table.name} can be read`);
  }
}

/** @throws DatabaseError if a row differs, or only one of the two has it */
async function compare(
  table: Table,
  { source, target, targetName }: CopyOptions,
  onPage: (rows: number) => void,
): Promise<void> {
  const copies = pagesOf(target, table);
  let before = 0;
  for await (const page of pagesOf(source, table)) {
    const { value: copied = [] } = await copies.next() as { readonly value?: readonly Row[] };
    const wrong = page.findIndex((row, index) => !isSame(row, copied[index]));
    if (wrong !== -1 || copied.length !== page.length) {
      const row = before + (wrong === -1 ? page.length : wrong) + 1;
      throw new DatabaseError(
        `${targetName} does not hold what it was given: row ${row} of ${table.name} differs`,
      );
    }
    before += page.length;
    onPage(page.length);
  }
  if ((await copies.next()).done !== true) {
    throw new DatabaseError(`${targetName} has more rows in ${table.name} than it was given`);
  }
}

function isSame(row: Row, other: Row | undefined): boolean {
  return other !== undefined && row.length === other.length &&
    row.every((value, index) => Object.is(value, other[index]));
}
