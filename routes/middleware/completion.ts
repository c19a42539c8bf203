import type { Context } from "hono";
import { allowOrigins, type Answered, recordAnswer, type Records } from "../../http/mod.ts";
import type { Config } from "../../services/operation/config/mod.ts";
import type { AppEnv } from "../environment.ts";
import { contextOf, type HeldRequest } from "../held_answers.ts";

export interface CompletionOptions extends Records {
  readonly config: Pick<Config, "cors">;
  /** Converts an exception to an answer. */
  readonly onError: (error: Error, context: Context<AppEnv>) => Response;
}

/** What an answer needs of its request when it is complete. */
export interface Framed extends HeldRequest, Pick<Answered, "route" | "principal" | "address"> {
  /** By `performance.now()`. */
  readonly started: number;
}

/** Completes answers: their headers, and their lines in the access log and the metrics. */
export class Completion {
  readonly #options: CompletionOptions;

  constructor(options: CompletionOptions) {
    this.#options = options;
  }

  /** Completes an answer whose headers are known. */
  complete(response: Response, framed: Framed): Response {
    const { config: { cors: { origins } } } = this.#options;
    const { request, requestId, started, route, principal, address } = framed;
    const { method } = request;
    const { headers, status } = response;
    tellBrowsers(headers);
    if (origins.length > 0) allowOrigins(headers, request, origins);
    headers.set("X-Request-Id", requestId);
    const milliseconds = performance.now() - started;
    recordAnswer(this.#options, {
      method,
      route,
      status,
      milliseconds,
      requestId,
      principal,
      address,
    });
    return response;
  }

  /** Completes the answer to a request that failed. */
  fail(error: Error, framed: Framed): Response {
    return this.complete(this.#options.onError(error, contextOf(framed)), framed);
  }
}

/**
 * Tells browsers not to guess the type of an answer, and not to store answers that need a
 * credential.
 */
function tellBrowsers(headers: Headers): void {
  headers.set("X-Content-Type-Options", "nosniff");
  if (!headers.has("Cache-Control")) headers.set("Cache-Control", "no-store");
}
