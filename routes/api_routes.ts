import { OpenAPIHono, type RouteConfig } from "@hono/zod-openapi";
import type { Context, Handler } from "hono";
import type { AppEnv } from "./environment.ts";
import { RememberingRouter } from "./remembering_router.ts";
import { RequestSchemas } from "./request_schemas.ts";

/** `OpenAPIHono.openapi` without the types that tie a handler to its route. */
type Register = (route: Documented, handler: Handler<AppEnv>) => ApiRoutes;

/** A route, which the document may leave out. */
type Documented = RouteConfig & { readonly hide?: boolean };

/**
 * Routes that validate requests and describe themselves in the OpenAPI document. {@link
 * RequestSchemas} validates, in a fraction of the time of the base class.
 */
export class ApiRoutes extends OpenAPIHono<AppEnv> {
  readonly #register: Register;

  constructor() {
    super({ strict: false, router: new RememberingRouter() });
    const register = this.openapi as unknown as Register;
    const registerValidated: Register = ({ middleware = [], hide = false, ...route }, handler) => {
      if (!hide) this.document(route);
      const { method, path, responses, request } = route;
      const validating = validated(new RequestSchemas(path, request), handler);
      return register({ method, path, responses, middleware, hide: true }, validating);
    };
    this.openapi = registerValidated as unknown as typeof this.openapi;
    this.#register = registerValidated;
  }

  /** Adds a route whose handler guarantees that its answers are those that the route documents. */
  handle(route: Documented, handler: Handler<AppEnv>): this {
    this.#register(route, handler);
    return this;
  }

  /** Describes a route that something else answers. */
  document(route: RouteConfig): this {
    this.openAPIRegistry.registerPath(route);
    return this;
  }
}

/**
 * Creates a handler that first validates the query, the path, the headers and a body of JSON, in
 * this order.
 */
function validated(schemas: RequestSchemas, handler: Handler<AppEnv>): Handler<AppEnv> {
  return (context, next) => {
    const { req } = context;
    const add = (target: "query" | "param" | "header" | "json", value: unknown) => {
      if (value !== undefined) req.addValidatedData(target, value as object);
    };
    add("query", schemas.query(req.url));
    add("param", schemas.params((name) => req.param(name)));
    add("header", schemas.headers(req.raw.headers));
    add("json", schemas.json(context.get("body"), req.raw.headers));
    return handler(context, next);
  };
}

/** The validated parts of a request; those that its route does not describe are undefined. */
export interface Input {
  readonly params: unknown;
  readonly query: unknown;
  readonly json: unknown;
}

/** The input of a request, once it is validated by the schemas of its route. */
export function inputOf({ req }: Context<AppEnv>): Input {
  const part = (name: string) => req.valid(name as never);
  return { params: part("param"), query: part("query"), json: part("json") };
}
