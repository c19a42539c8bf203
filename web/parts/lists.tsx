import type { PropsWithChildren } from "hono/jsx";
import { type Visit, withQuery } from "../visit.ts";

/** What a list shows when it has no entries: say why, and what to do. */
export function Empty({ children }: PropsWithChildren) {
  return <div class="empty">{children}</div>;
}

/** Entries on one page of a list. */
const PER_PAGE = 50;

/** The part of a list that is shown. */
export interface Part<Item> {
  readonly shown: readonly Item[];
  /** The number of its page, from 1, and of the last page. */
  readonly page: number;
  readonly pages: number;
}

/**
 * The part of a list that the query asks for; the last one if that is beyond it.
 *
 * @param parameter has the number of the page in the query
 */
export function partOf<Item>(
  visit: Visit,
  items: readonly Item[],
  parameter = "page",
): Part<Item> {
  const pages = Math.max(1, Math.ceil(items.length / PER_PAGE));
  const page = Math.min(visit.pageNumberOf(parameter), pages);
  return { shown: items.slice((page - 1) * PER_PAGE, page * PER_PAGE), page, pages };
}

/**
 * The links to the neighbouring pages of a list. They keep the other parameters of the query. From a
 * page beyond the end, as when entries have left the list, they lead to the last one.
 */
export function Pager({ visit, page, pages, parameter = "page", label = "Pages" }: {
  readonly visit: Visit;
  readonly page: number;
  readonly pages: number;
  /** Has the number of the page in the query. */
  readonly parameter?: string;
  /** What a screen reader says; different from those of other lists of the page. */
  readonly label?: string;
}) {
  if (pages <= 1 && page <= 1) return null;
  const to = (number: number) =>
    withQuery(visit.url.pathname, {
      ...Object.fromEntries(visit.url.searchParams),
      [parameter]: number,
    });
  return (
    <nav class="pager" aria-label={label}>
      {page > 1
        ? <a href={to(Math.max(1, Math.min(page - 1, pages)))} rel="prev">Previous</a>
        : <span />}
      <span class="soft">Page {page} of {pages}</span>
      {page < pages ? <a href={to(page + 1)} rel="next">Next</a> : <span />}
    </nav>
  );
}

/** What is searched for in a list, in lower case; "" if nothing is. */
export function searchOf(visit: Visit): string {
  return visit.query("q")?.toLowerCase() ?? "";
}

/** The field that searches the lists of a page. */
export function Search({ visit, label }: {
  readonly visit: Visit;
  /** Such as "Search by name". */
  readonly label: string;
}) {
  return (
    <form method="get" action={visit.url.pathname} role="search" class="search">
      <label class="hidden-text" for="q">{label}</label>
      <input id="q" name="q" type="search" value={visit.query("q") ?? ""} placeholder={label} />
    </form>
  );
}
