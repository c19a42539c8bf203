import { Hono } from "hono";
import type { Services } from "../services/operation/daemon/mod.ts";
import type { AppEnv } from "./environment.ts";
import { errorHandler } from "./middleware/errors.ts";
import { frame, type FrameOptions } from "./middleware/frame.ts";
import { notFoundHandler } from "./middleware/not_found.ts";
import { RememberingRouter } from "./remembering_router.ts";

/** An app without routes, with the common handling of every request. */
export function framedApp(
  services: Services,
  files: Pick<FrameOptions, "isFile" | "uploads">,
): Hono<AppEnv> {
  const app = new Hono<AppEnv>({ strict: false, router: new RememberingRouter() });
  const onError = errorHandler(services.log);
  app.onError(onError);
  app.notFound(notFoundHandler(app));
  app.use(frame(app, { ...services, ...files, onError }));
  return app;
}
