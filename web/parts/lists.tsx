import type { PropsWithChildren } from "hono/jsx";
import { type Visit, withQuery } from "../visit.ts";

/** What a list shows when it has no entries: say why, and what to do. */
export function Empty({ children }: PropsWithChildren) {
  return <div class="empty">{children}</div>;
}

/** The links to the neighbouring pages of a list. They keep the other parameters of the query. */
export function Pager({ visit, page, pages }: {
  readonly visit: Visit;
  readonly page: number;
  readonly pages: number;
}) {
  if (pages <= 1) return null;
  const to = (number: number) =>
    withQuery(visit.url.pathname, {
      ...Object.fromEntries(visit.url.searchParams),
      page: number,
    });
  return (
    <nav class="pager" aria-label="Pages">
      {page > 1 ? <a href={to(page - 1)} rel="prev">Previous</a> : <span />}
      <span class="soft">Page {page} of {pages}</span>
      {page < pages ? <a href={to(page + 1)} rel="next">Next</a> : <span />}
    </nav>
  );
}
