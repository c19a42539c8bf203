/**
 * What a server is asked for as soon as it starts, by those who wait for it. The answers are those
 * of the whole API, which takes longer to make.
 */
import type { Hono } from "hono";
import type { Services } from "../services/daemon/mod.ts";
import type { AppEnv } from "./environment.ts";
import { framedApp } from "./framed_app.ts";
import { addPlain } from "./group.ts";
import { authenticate } from "./middleware/authenticate.ts";
import { healthHandlers, statusHandlers } from "./plain_handlers.ts";

const PROBE = /^\w+:\/\/[^/]+\/(healthz|readyz|v1\/status)$/;

/** Whether a request is for one of the probes. */
export function isProbe({ method, url }: Pick<Request, "method" | "url">): boolean {
  return method === "GET" && PROBE.test(url);
}

/** Answers the probes, and nothing else. */
export function createProbes(services: Services): Hono<AppEnv> {
  const { status } = services;
  const app = framedApp(services, { isFile: () => false, uploads: new Set() });
  app.use("/v1/*", authenticate(services, "bearer", "basic"));
  addPlain(app, { ...healthHandlers(status), ...statusHandlers(status) });
  return app;
}
