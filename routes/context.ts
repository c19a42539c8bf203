import { ApiRoutes } from "./api_routes.ts";

export type { AppEnv, Proof } from "./environment.ts";

/** Creates an empty application, to which a group adds its routes. */
export function newRoutes(): ApiRoutes {
  return new ApiRoutes();
}
