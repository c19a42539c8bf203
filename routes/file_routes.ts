import type { Context } from "hono";
import type { AppEnv } from "./environment.ts";
import { RoutePatterns } from "./middleware/methods.ts";
import { isSync } from "./sync_request.ts";
import { PROJECT_ROUTES, type ProjectTrait } from "./projects/table.ts";
import { ROUTES, type Trait } from "./table.ts";

/** The upload of the web pages, which are in no table of routes. */
const PAGE_UPLOAD = "PUT /projects/{slug}/repository";

/**
 * Finds the requests whose body is a file, which is streamed to disk. The tables of routes mark
 * them.
 *
 * @param base the path of the repository API, such as `/projects/{slug}/fossil`
 */
export function fileRoutes(base: string): (context: Context<AppEnv>) => boolean {
  const patterns = new RoutePatterns();
  const names = new Set([...marked(ROUTES, ""), ...marked(PROJECT_ROUTES, base), PAGE_UPLOAD]);
  const beginnings = [...new Set(Array.from(names, beginningOf))];
  return (context) => {
    const { method, path } = context.req;
    if (isSync(context.req)) return true;
    if (!beginnings.some((beginning) => path.startsWith(beginning))) return false;
    return names.has(`${method} ${patterns.of(context)}`);
  };
}

/** What all paths of a route begin with. */
function beginningOf(name: string): string {
  return name.slice(name.indexOf("/")).replace(/\{.*/, "");
}

/**
 * The patterns of the routes of resumable uploads, as the router writes them.
 *
 * @param base the path of the repository API, such as `/projects/{slug}/fossil`
 */
export function uploadPatterns(base: string): ReadonlySet<string> {
  const names = Object.entries(PROJECT_ROUTES).filter(([, [group]]) => group === "uploads")
    .map(([name]) => name);
  return new Set(names.map((name) => patternOf(base + name.slice(name.indexOf("/")))));
}

/** A path as the router writes it: `{nick}` is `:nick`. */
export function patternOf(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ":$1");
}

type Table = Readonly<Record<string, readonly [string, string, (Trait | ProjectTrait)?]>>;

/** The names of a table's routes whose body is a file, with their full paths. */
function marked(table: Table, base: string): string[] {
  return Object.entries(table).filter(([, [, , trait]]) => trait === "file body")
    .map(([name]) => name.replace(" ", ` ${base}`));
}
