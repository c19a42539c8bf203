import type { Result, Router } from "hono/router";
import { RegExpRouter } from "hono/router/reg-exp-router";
import { SmartRouter } from "hono/router/smart-router";
import { TrieRouter } from "hono/router/trie-router";

/** How many requests' routes are remembered, and the longest path among them, in characters. */
const REMEMBERED = 512;
const MAX_PATH_LENGTH = 200;

/** The router that Hono uses by default, which remembers the routes of the latest paths. */
export class RememberingRouter<Handler> implements Router<Handler> {
  readonly name = "RememberingRouter";
  readonly #router: Router<Handler> = new SmartRouter<Handler>({
    routers: [new RegExpRouter(), new TrieRouter()],
  });
  readonly #found = new Map<string, Result<Handler>>();

  add(method: string, path: string, handler: Handler): void {
    this.#found.clear();
    this.#router.add(method, path, handler);
  }

  match(method: string, path: string): Result<Handler> {
    if (path.length > MAX_PATH_LENGTH) return this.#router.match(method, path);
    const key = `${method} ${path}`;
    let result = this.#found.get(key);
    if (result === undefined) {
      result = this.#router.match(method, path);
      if (this.#found.size >= REMEMBERED) this.#found.clear();
      this.#found.set(key, result);
    }
    return result;
  }
}
