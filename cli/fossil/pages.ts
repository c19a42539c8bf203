import type { Paging } from "../../services/fossil/mod.ts";
import { print } from "../output.ts";

/** Entries shown by default. */
const DEFAULT_LIMIT = 25;
/** Longest page of the engine. */
const PAGE = 10_000;

/** A page of a list, and the length of the whole list. */
type Page<Key extends string> =
  & { readonly total: number }
  & Readonly<
    Record<Key, readonly unknown[]>
  >;

/**
 * Reads the requested entries of a list, page by page.
 *
 * @param paging a limit of 0 stands for all entries.
 * @param key the property of a page that holds its entries.
 */
export function readPages<Key extends string, Result extends Page<Key>>(
  { limit = DEFAULT_LIMIT, offset = 0 }: Paging,
  key: Key,
  read: (page: Required<Paging>) => Result,
): Result {
  const end = limit === 0 ? Infinity : offset + limit;
  const entries: unknown[] = [];
  for (let start = offset;; start += PAGE) {
    const result = read({ limit: Math.min(PAGE, end - start), offset: start });
    for (const entry of result[key]) entries.push(entry);
    if (start + PAGE >= Math.min(end, result.total)) return { ...result, [key]: entries };
  }
}

/** Prints that a list continues. */
export function printRest(shown: number, total: number): void {
  if (shown < total) print(`${shown} of ${total}; -n 0 shows all`);
}
