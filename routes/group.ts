import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Handler, Hono } from "hono";
import { NotFound } from "../services/kernel/errors.ts";
import type { AppEnv } from "./environment.ts";
import { patternOf } from "./file_routes.ts";
import type { LoadRoom } from "./operation_requests.ts";
import { once } from "./once.ts";
import { type Endpoint, type Group, type Opens, ROUTES, type Trait } from "./table.ts";

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

/** A group of routes in an app. */
export interface RouteGroup {
  /** Its routes with their schemas; null if the configuration switches it off. */
  readonly load: (() => Promise<OpenAPIHono<AppEnv>>) | null;
  /** Adds its routes to an app. */
  addTo(app: Hono<AppEnv>): void;
}

/**
 * A group whose module is loaded by the first request for one of its routes: most programs are never
 * asked for most groups, and schemas take time and memory.
 *
 * @param create imports the module and creates the routes that the table lists for the group
 */
export function lazyGroup(
  group: Group,
  create: () => Promise<OpenAPIHono<AppEnv>>,
): RouteGroup {
  const load = once(create);
  const addTo = (app: Hono<AppEnv>) => {
    for (const name of endpointsOf(group)) {
      const { method, pattern } = placeOf(name);
      const [, , trait]: readonly [Group, Opens, Trait?] = ROUTES[name];
      const patterns = trait === "slashes" ? [pattern, `${pattern}{[\\s\\S]+}`] : [pattern];
      app.on(method, patterns, lazyHandler(load, name));
    }
  };
  return { load, addTo };
}

/** A group of operations, which only the API's document shows: their requests never reach the app. */
export function operationGroup(load: LoadRoom): RouteGroup {
  const document = async () => {
    const { documentedRoutes } = await import("./operations.ts");
    return documentedRoutes(await load());
  };
  return { load: document, addTo: () => {} };
}

/**
 * A group that the configuration switches off: requests below its paths get 404.
 *
 * @param message why
 */
export function switchedOff(
  methods: readonly string[],
  paths: readonly string[],
  message: string,
): RouteGroup {
  const refuse = () => {
    throw new NotFound(message);
  };
  return { load: null, addTo: (app) => void app.on([...methods], [...paths], refuse) };
}

/** The endpoints of a group, as the table lists them. */
function endpointsOf(group: Group): Endpoint[] {
  const names = Object.keys(ROUTES) as Endpoint[];
  return names.filter((name) => ROUTES[name][0] === group);
}

/** Answers by a route of a group, which the first request loads. */
function lazyHandler(load: () => Promise<Hono<AppEnv>>, name: Endpoint): Handler<AppEnv> {
  let loaded: Handler<AppEnv> | null = null;
  return (context, next) => {
    if (loaded !== null) return loaded(context, next);
    return load().then((group) =>
      (loaded ??= inOneTask(...handlersOf(group, name)))(context, next)
    );
  };
}

/** All handlers of a route: what checks the caller and the request, and what answers. */
function handlersOf({ routes }: Hono<AppEnv>, name: Endpoint): Handler<AppEnv>[] {
  const { method, pattern } = placeOf(name);
  return routes.filter((route) => route.method === method && route.path === pattern)
    .map(({ handler }) => handler);
}

/** A route's method, and its path as the router writes it. */
function placeOf(name: Endpoint): { readonly method: string; readonly pattern: string } {
  const [method = "", path = ""] = name.split(" ");
  return { method, pattern: patternOf(path) };
}
