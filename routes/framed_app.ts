import { Hono } from "hono";
import type { Services } from "../services/operation/daemon/mod.ts";
import type { AppEnv } from "./environment.ts";
import { Framing } from "./framing.ts";
import { errorHandler } from "./middleware/errors.ts";
import { frame, type FrameOptions } from "./middleware/frame.ts";
import { type RoutesAt, routesOf } from "./middleware/methods.ts";
import { notFoundHandler } from "./middleware/not_found.ts";
import { RememberingRouter } from "./remembering_router.ts";

/** What every request has in common, by the configuration. */
export function newFraming(services: Services): Framing {
  return new Framing({ ...services, onError: errorHandler(services.log) });
}

/**
 * An app without routes, with the common handling of every request.
 *
 * @param elsewhere finds the routes that answer without the app, whose paths it knows thus
 */
export function framedApp(
  services: Services,
  options: Pick<FrameOptions, "framing" | "isFile" | "uploads">,
  elsewhere: RoutesAt = () => [],
) {
  const app = new Hono<AppEnv>({ strict: false, router: new RememberingRouter() });
  const ofApp = routesOf(app);
  const routesAt: RoutesAt = (path) => [...ofApp(path), ...elsewhere(path)];
  const notFound = notFoundHandler(routesAt);
  app.onError(errorHandler(services.log));
  app.notFound(notFound);
  app.use(frame(routesAt, { ...services, ...options }));
  return { app, notFound };
}
