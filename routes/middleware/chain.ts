import type { Handler } from "hono";
import type { AppEnv } from "../environment.ts";

/**
 * Handlers as one, each of which may call the next. They run in one task as far as none of them waits:
 * Hono suspends a function for each of its handlers. What a handler throws passes through those
 * before it, as what an awaited function throws does; Hono would answer it first.
 */
export function inOneTask(
  ...handlers: readonly Handler<AppEnv>[]
): Handler<AppEnv, string, object, Promise<void>> {
  return (context, next) => {
    const finish = (response: Response | void) => {
      if (response instanceof Response && !context.finalized) context.res = response;
    };
    const run = (index: number): Promise<void> => {
      const handler = handlers[index];
      if (handler === undefined) return next();
      const response = handler(context, () => run(index + 1));
      if (response instanceof Promise) return response.then(finish);
      finish(response);
      return Promise.resolve();
    };
    return run(0);
  };
}
