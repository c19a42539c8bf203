/**
 * What a server is asked for as soon as it starts, by those who wait for it. The answers are those
 * of the whole API, which takes longer to make.
 */
import type { Context, Hono } from "hono";
import type { Services } from "../services/operation/daemon/mod.ts";
import type { Status } from "../services/operation/metrics/mod.ts";
import { allow } from "./access.ts";
import type { AppEnv } from "./environment.ts";
import { framedApp, newFraming } from "./framing.ts";
import { authenticate } from "./middleware/authenticate.ts";

const PROBE = /^\w+:\/\/[^/]+\/(healthz|readyz|v1\/status)$/;

/** Whether a request is for one of the probes. */
export function isProbe({ method, url }: Pick<Request, "method" | "url">): boolean {
  return method === "GET" && PROBE.test(url);
}

/** Answers the probes, and nothing else. */
export function createProbes(services: Services): Hono<AppEnv> {
  const { status } = services;
  const framing = newFraming(services);
  const { app } = framedApp(services, { framing, isLong: () => false, uploads: new Set() });
  app.use("/v1/*", authenticate(services, "bearer", "basic"), allow({ on: "coordination" }));
  app.get("/healthz", answerHealth);
  app.get("/readyz", (context) => answerReadiness(context, status));
  app.get("/v1/status", (context) => context.json(status.read()));
  return app;
}

/** Answers `GET /healthz`. */
export function answerHealth(context: Context<AppEnv>) {
  return context.json({ status: "ok" as const }, 200);
}

/** Answers `GET /readyz`. */
export async function answerReadiness(
  context: Context<AppEnv>,
  status: Pick<Status, "recheck" | "missing" | "halted" | "node">,
) {
  await status.recheck();
  const missing = status.missing();
  if (missing.length > 0) {
    return context.json({ error: `Not ready: ${missing.join(", ")}` }, 503);
  }
  const { halted, node } = status;
  return context.json(
    { status: "ok" as const, halted, ...node === undefined ? {} : { node } },
    200,
  );
}
