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
  const isFile = requestsFor([
    ...marked(ROUTES, "", "file body"),
    ...marked(PROJECT_ROUTES, base, "file body"),
    PAGE_UPLOAD,
  ]);
  return (context) => isSync(context.req) || isFile(context);
}

/** Finds the requests to models, whose bodies may be longer than others. */
export function modelRoutes(): (context: Context<AppEnv>) => boolean {
  return requestsFor(marked(ROUTES, "", "model body"));
}

/** Finds the requests for routes of these names. */
function requestsFor(routes: readonly string[]): (context: Context<AppEnv>) => boolean {
  const patterns = new RoutePatterns();
  const names = new Set(routes);
  const beginnings = [...new Set(Array.from(names, beginningOf))];
  return (context) => {
    const { method, path } = context.req;
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

/** The names of a table's routes with a trait, with their full paths. */
function marked(table: Table, base: string, wanted: Trait): string[] {
  return Object.entries(table).filter(([, [, , trait]]) => trait === wanted)
    .map(([name]) => name.replace(" ", ` ${base}`));
}
