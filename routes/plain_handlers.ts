/**
 * Answers of routes that take no input. They stand apart from their schemas, because they are what a
 * server is asked for as soon as it starts.
 */
import type { Context } from "hono";
import type { Status } from "../services/metrics/mod.ts";
import type { AppEnv } from "./environment.ts";

/** Answers `GET /healthz` and `GET /readyz`. */
export function healthHandlers(status: Pick<Status, "recheck" | "missing" | "halted" | "node">) {
  return {
    "GET /healthz": (context: Context<AppEnv>) => context.json({ status: "ok" as const }, 200),
    "GET /readyz": async (context: Context<AppEnv>) => {
      await status.recheck();
      const missing = status.missing();
      if (missing.length === 0) {
        const { halted, node } = status;
        return context.json(
          { status: "ok" as const, halted, ...node === undefined ? {} : { node } },
          200,
        );
      }
      return context.json({ error: `Not ready: ${missing.join(", ")}` }, 503);
    },
  };
}

/** Answers `GET /v1/status`. */
export function statusHandlers(status: Pick<Status, "read">) {
  const handler = (context: Context<AppEnv>) => context.json(status.read(), 200);
  const answer = () => Response.json(status.read());
  return {
    "GET /v1/status": Object.assign(handler, { direct: { answer } }),
  };
}
