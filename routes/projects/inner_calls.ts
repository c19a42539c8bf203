import type { OpenAPIHono } from "@hono/zod-openapi";
import { type ErrorHandler, Hono } from "hono";
import type { AppEnv } from "../context.ts";
import type { InnerCaller } from "../environment.ts";

/** The origin of inner requests; only their paths matter. */
const ORIGIN = "http://inner";

/** Values of an inner request that its caller provides. */
const INHERITED = ["requestId", "address", "secure", "principal", "access", "prove"] as const;

export interface InnerCallsOptions extends Pick<AppEnv["Variables"], "enterAgain" | "space"> {
  /** The routes of the repository API. */
  readonly api: OpenAPIHono<AppEnv>;
  /** Answers what a handler throws; if it throws, the call fails with that. */
  readonly onError: ErrorHandler<AppEnv>;
}

/**
 * Calls the repository API from inside this process: the routes check rights and bodies and answer
 * as they do over HTTP, for a caller who is already authenticated.
 */
export class InnerCalls {
  readonly #routes = new Hono<AppEnv>();

  constructor(options: InnerCallsOptions) {
    const { api, enterAgain, space, onError } = options;
    this.#routes.onError(onError);
    this.#routes.notFound(({ json, req }) => json({ error: `Unknown API path: ${req.path}` }, 404));
    this.#routes.use(async (context, next) => {
      const { inner } = context.env;
      if (inner === undefined) throw new Error("An inner call has a caller");
      for (const name of INHERITED) context.set(name, inner[name]);
      context.set("enterAgain", enterAgain);
      context.set("space", space);
      await next();
    });
    this.#routes.route("/", api);
  }

  /** @param path from `/api/` on, with its query */
  async request(path: string, init: RequestInit, inner: InnerCaller): Promise<Response> {
    const env = { remoteAddress: inner.address, inner };
    return await this.#routes.request(`${ORIGIN}${path}`, init, env);
  }
}
