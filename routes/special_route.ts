import type { MiddlewareHandler } from "hono";
import { accessOf } from "./access.ts";
import type { AppEnv } from "./environment.ts";
import { projectAccess } from "./projects/route.ts";
import { PROJECT_ROUTES, type ProjectEndpoint } from "./projects/table.ts";
import { type Description, tableRoute } from "./route.ts";
import type { Endpoint } from "./table.ts";

/**
 * Creates a route of a table that is no operation, because its answer or its body is a stream or a
 * file, or because it is about HTTP itself: sessions, batches, this API's documents. It checks the
 * caller's rights and refuses unknown query parameters; the API's document lists its credentials.
 *
 * @param middleware runs after the check of the rights
 */
export function specialRoute<
  Name extends Endpoint | ProjectEndpoint,
  Described extends Description,
>(
  name: Name,
  description: Described,
  ...middleware: readonly MiddlewareHandler<AppEnv>[]
) {
  const { middleware: guard, ...access } = isOfProject(name) ? projectAccess(name) : accessOf(name);
  return tableRoute(name, description, { ...access, middleware: [...guard, ...middleware] });
}

function isOfProject(name: Endpoint | ProjectEndpoint): name is ProjectEndpoint {
  return name in PROJECT_ROUTES;
}
