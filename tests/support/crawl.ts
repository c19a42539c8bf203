/** Follows the links of the pages, as somebody does who knows no address by heart. */
import assert from "node:assert/strict";
import { addressOf } from "./tour.ts";

/** Pages of one address that are loaded: each may link to what the others do not. */
const VISITS = 4;

/** A link that leads nowhere. */
export interface DeadLink {
  readonly from: string;
  readonly to: string;
  readonly status: number;
}

/** What the links of the pages lead to. */
export interface Crawl {
  /** The addresses of the table to which a page links. */
  readonly reached: ReadonlySet<string>;
  readonly dead: readonly DeadLink[];
}

/**
 * Follows links from the home page.
 *
 * @param headers of somebody who is logged in
 */
export async function crawl(
  base: string,
  headers: Readonly<Record<string, string>>,
): Promise<Crawl> {
  const visits = new Map<string, number>();
  const known = new Set(["/"]);
  const queue = [{ from: "", to: "/" }];
  const dead: DeadLink[] = [];
  for (let link = queue.shift(); link !== undefined; link = queue.shift()) {
    const { to, from } = link;
    const address = addressOf(to) ?? new URL(to, base).pathname.replace(/[^/]+$/, "");
    const count = visits.get(address) ?? 0;
    visits.set(address, count + 1);
    if (count >= VISITS) continue;
    const response = await fetch(new URL(to, base), { headers });
    const html = await response.text();
    if (!response.ok) dead.push({ from, to, status: response.status });
    if (!/^text\/html/.test(response.headers.get("content-type") ?? "")) continue;
    for (const next of linksOf(html, response.url, base)) {
      if (known.has(next)) continue;
      known.add(next);
      queue.push({ from: to, to: next });
    }
  }
  assert.ok(known.size > 1, "The home page has no link");
  return { reached: new Set([...known].flatMap((path) => addressOf(path) ?? [])), dead };
}

/** The links of a page to this server, without what follows `#`. */
function linksOf(html: string, url: string, base: string): string[] {
  // Nobody sees a template; a script fills in its links.
  const shown = html.replaceAll(/<template\b.*?<\/template>/gs, "");
  return [...shown.matchAll(/<a\s[^>]*?href="([^"]*)"/g)].flatMap(([, href = ""]) => {
    const target = URL.parse(href.replaceAll("&amp;", "&").replaceAll("&#39;", "'"), url);
    if (target === null || target.origin !== new URL(base).origin) return [];
    return [target.pathname + target.search];
  });
}
