import { createRoute, type RouteConfig } from "@hono/zod-openapi";
import { z } from "./extended_zod.ts";
import type { RouteAccess } from "./access.ts";
import { openedBy } from "./documentation/mod.ts";
import { ANTHROPIC_PATH, OPENAI_PATH } from "./middleware/error_body.ts";
import { anthropicErrors, errors, openAiErrors } from "./schemas.ts";

type MethodOf<Name extends string> = Name extends `${infer Method} ${string}`
  ? Extract<Lowercase<Method>, RouteConfig["method"]>
  : never;

type PathOf<Name extends string> = Name extends `${string} ${infer Path}` ? Path : never;

/** What a table does not say of a route. */
export interface Description
  extends Omit<RouteConfig, "method" | "path" | "security" | "middleware" | "operationId"> {
  /** Its name in clients that are generated, such as `createTicket`. */
  readonly operationId: string;
}

/**
 * Creates a route of a table by its name, such as `GET /v1/agents`. It refuses query parameters that
 * the description does not name.
 */
export function tableRoute<Name extends string, Described extends Description>(
  name: Name,
  description: Described,
  { schemes, isOpen, refusesHalted, middleware }: RouteAccess,
) {
  const [method, path] = name.split(" ") as [string, PathOf<Name>];
  const { params } = description.request ?? {};
  // A parameter may be too long, if nothing else is wrong with it.
  const malformed = params === undefined ? description : withError(description, path, 400);
  const whole = refusesHalted ? withError(malformed, path, 423) : malformed;
  return createRoute({
    ...strict(whole),
    method: method.toLowerCase() as MethodOf<Name>,
    path,
    middleware: [...middleware],
    security: [...openedBy(...schemes), ...(isOpen ? [{}] : [])],
  });
}

/** The description with one more answer: to a malformed request, or to a halted agent. */
function withError<Described extends Description>(
  description: Described,
  path: string,
  status: 400 | 423,
): Described {
  const answers = path.startsWith(OPENAI_PATH)
    ? openAiErrors(status)
    : path.startsWith(ANTHROPIC_PATH)
    ? anthropicErrors(status)
    : errors(status);
  const responses = { [status]: answers[status], ...description.responses };
  return { ...description, responses };
}

/** The description with a query that refuses unknown parameters, if it takes a query. */
function strict<Described extends Description>(description: Described): Described {
  const { request } = description;
  if (!(request?.query instanceof z.ZodObject)) return description;
  return { ...description, request: { ...request, query: request.query.strict() } };
}
