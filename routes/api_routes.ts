import { OpenAPIHono, type RouteConfig } from "@hono/zod-openapi";
import type { Handler } from "hono";
import type { AppEnv } from "./environment.ts";
import { invalidRequest } from "./middleware/errors.ts";
import { validate } from "./middleware/validate.ts";
import { RememberingRouter } from "./remembering_router.ts";
import { validatedBody } from "./unknown_fields.ts";

/** `OpenAPIHono.openapi` without the types that tie a handler to its route. */
type Register = (route: Documented, handler: Handler<AppEnv>) => ApiRoutes;

/** A route, which the document may leave out. */
type Documented = RouteConfig & { readonly hide?: boolean };

/**
 * Routes that validate requests and describe themselves in the OpenAPI document. The base class
 * validates bodies; {@link validate} does the rest, in a fraction of the time.
 */
export class ApiRoutes extends OpenAPIHono<AppEnv> {
  constructor() {
    super({ strict: false, defaultHook: invalidRequest, router: new RememberingRouter() });
    const register = this.openapi as unknown as Register;
    const registerValidated: Register = ({ middleware = [], hide = false, ...route }, handler) => {
      if (!hide) this.openAPIRegistry.registerPath(route);
      const { method, path, responses, request: { body } = {} } = route;
      return register({
        method,
        path,
        responses,
        ...(body === undefined ? {} : { request: { body: validatedBody(path, body) } }),
        hide: true,
        middleware: [middleware, validate(route.request)].flat(),
      }, handler);
    };
    this.openapi = registerValidated as unknown as typeof this.openapi;
  }
}
