import type { Result, Router } from "hono/router";
import { RegExpRouter } from "hono/router/reg-exp-router";
import { SmartRouter } from "hono/router/smart-router";
import { TrieRouter } from "hono/router/trie-router";

/** Most remembered paths of each method, and the longest such path. */
const MOST_PATHS = 1000;
const LONGEST_PATH = 256;

/**
 * Hono's default router with a cache of routes by path: the same few paths make up most requests.
 * Unlike that one, it takes routes also after the first match.
 */
export class RememberingRouter<Handler> implements Router<Handler> {
  readonly name = "RememberingRouter";
  readonly #routes: (readonly [method: string, path: string, handler: Handler])[] = [];
  /** Null until the first match after a change. */
  #router: SmartRouter<Handler> | null = null;
  readonly #known = new Map<string, Map<string, Result<Handler>>>();

  add(method: string, path: string, handler: Handler): void {
    this.#known.clear();
    this.#router = null;
    this.#routes.push([method, path, handler]);
  }

  match(method: string, path: string): Result<Handler> {
    return this.#known.get(method)?.get(path) ?? this.#find(method, path);
  }

  #find(method: string, path: string): Result<Handler> {
    const router = this.#router ??= this.#build();
    if (path.length > LONGEST_PATH) return router.match(method, path);
    // A copy, because a part of a URL would keep the whole URL in memory.
    const copy = [...path].join("");
    const found = router.match(method, copy);
    const known = this.#known.get(method) ?? new Map<string, Result<Handler>>();
    if (known.size >= MOST_PATHS) known.clear();
    known.set(copy, found);
    this.#known.set(method, known);
    return found;
  }
  #build(): SmartRouter<Handler> {
    const router = new SmartRouter<Handler>({ routers: [new RegExpRouter(), new TrieRouter()] });
    for (const route of this.#routes) router.add(...route);
    return router;
  }
}
