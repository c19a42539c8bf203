import { getPath } from "hono/utils/url";

/** Orders paths, or names of routes: a literal part comes before a parameter at its place. */
export function bySpecificity(one: string, other: string): number {
  const order = (name: string) => name.replaceAll("{", "\u{ffff}");
  return order(one) < order(other) ? -1 : 1;
}

/** Methods and paths of requests, written as in the table of routes: `GET /v1/messages/{id}`. */
export class PathPatterns {
  /** The segments of each path, null for a parameter; by the method and their number. */
  readonly #patterns = new Map<string, (readonly (string | null)[])[]>();
  /** Their first segments: most requests have another one. */
  readonly #firsts = new Set<string>();

  /** @param patterns whose first segment is no parameter */
  constructor(patterns: readonly string[]) {
    for (const pattern of patterns) {
      const [method = "", path = ""] = pattern.split(" ");
      const segments = path.split("/").map((one) => one.startsWith("{") ? null : one);
      const key = `${method} ${segments.length}`;
      this.#patterns.set(key, [...this.#patterns.get(key) ?? [], segments]);
      this.#firsts.add(segments[1] ?? "");
    }
  }

  /** Whether a request is for one of them. HEAD counts as GET. */
  matches(request: Request): boolean {
    const { method } = request;
    const path = getPath(request);
    const end = path.indexOf("/", 1);
    if (!this.#firsts.has(path.slice(1, end < 0 ? path.length : end))) return false;
    const segments = (path.endsWith("/") ? path.slice(0, -1) : path).split("/");
    const asked = method === "HEAD" ? "GET" : method;
    return this.#patterns.get(`${asked} ${segments.length}`)?.some((pattern) =>
      pattern.every((one, at) => one === null ? segments[at] !== "" : one === segments[at])
    ) ?? false;
  }
}
