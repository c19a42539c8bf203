import { OpenAPIHono, type RouteConfig } from "@hono/zod-openapi";
import type { Context, Handler } from "hono";
import { callerOf } from "./caller.ts";
import type { Answer, AnsweringHandler, DirectAnswer, InputOf } from "./direct.ts";
import type { AppEnv } from "./environment.ts";
import { bounded } from "../services/kernel/validation/schemas.ts";
import { z } from "./extended_zod.ts";
import { invalidRequest } from "./middleware/errors.ts";
import { validated } from "./middleware/validate.ts";
import { RememberingRouter } from "./remembering_router.ts";
import { type Body, validatedBody } from "./unknown_fields.ts";

/** `OpenAPIHono.openapi` without the types that tie a handler to its route. */
type Register = (
  route: Documented,
  handler: Handler<AppEnv>,
  direct?: Pick<DirectAnswer, "answer">,
) => ApiRoutes;

/** A route, which the document may leave out. */
type Documented = RouteConfig & { readonly hide?: boolean };

/**
 * Routes that validate requests and describe themselves in the OpenAPI document. The base class
 * validates bodies that may be absent or are no JSON; {@link validated} does the rest, in a fraction
 * of the time.
 */
export class ApiRoutes extends OpenAPIHono<AppEnv> {
  readonly #register: Register;

  constructor() {
    super({ strict: false, defaultHook: invalidRequest, router: new RememberingRouter() });
    const register = this.openapi as unknown as Register;
    const registerValidated: Register = (
      { middleware = [], hide = false, ...route },
      handler,
      direct,
    ) => {
      if (!hide) this.openAPIRegistry.registerPath(route);
      const { method, path, responses } = route;
      const request = route.request && boundedRequest(route.request);
      const body = request?.body && validatedBody(path, request.body);
      const json = body && requiredJson(body);
      const whole = { method, path, responses, middleware, hide: true };
      if (body === undefined || json !== undefined) {
        const validating: AnsweringHandler = validated(request, json, handler);
        if (direct !== undefined && request?.headers === undefined) {
          const { params, query } = request ?? {};
          validating.direct = { params, query, json, answer: direct.answer };
        }
        return register(whole, validating);
      }
      const first = validated(request, undefined, (_context, next) => next());
      const outer = [middleware, first].flat();
      return register({ ...whole, middleware: outer, request: { body } }, handler);
    };
    this.openapi = registerValidated as unknown as typeof this.openapi;
    this.#register = registerValidated;
  }

  /** Adds a route whose handler guarantees that its answers are those that the route documents. */
  handle(route: Documented, handler: Handler<AppEnv>): this {
    this.#register(route, handler);
    return this;
  }

  /**
   * Adds a route whose answer depends on its input and its caller alone. Usual requests for it are
   * answered without the app: see {@link DirectRequests}.
   *
   * @param handler answers in the app, where requests with a query may need more than that
   */
  answer<Route extends RouteConfig>(
    route: Route,
    answer: Answer<InputOf<Route>>,
    handler: Handler<AppEnv> = (context) => answer(inputOf(context), callerOf(context)),
  ): this {
    this.#register(route, handler, { answer: answer as Answer });
    return this;
  }
}

/** A request whose parameters have a length. */
function boundedRequest(request: NonNullable<RouteConfig["request"]>): typeof request {
  const { params, query, headers } = request;
  const all = { params, query, headers };
  const schemas = Object.entries(all).map(([part, schema]) => [
    part,
    schema instanceof z.ZodType ? bounded(schema) : schema,
  ]);
  return { ...request, ...Object.fromEntries(schemas) };
}

/** The schema of a body that must be there and can only be JSON; undefined for any other body. */
function requiredJson({ content, required = false }: Body): z.ZodType | undefined {
  const [media, ...others] = Object.entries(content);
  if (media === undefined || others.length > 0 || !required) return undefined;
  const [type, described] = media;
  if (type !== "application/json" || described === undefined) return undefined;
  if (!("schema" in described)) return undefined;
  return described.schema instanceof z.ZodType ? described.schema : undefined;
}

/** The input of a request, once it is validated by the schemas of its route. */
export function inputOf<Route extends RouteConfig>({ req }: Context<AppEnv>): InputOf<Route> {
  const part = (name: string) => req.valid(name as never);
  return { params: part("param"), query: part("query"), json: part("json") };
}
