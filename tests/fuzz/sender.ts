import { call } from "../support/api.ts";
import type { Program } from "../support/program.ts";
import { WAIT_LIMIT } from "../support/until.ts";

/**
 * How long an answer may take, in milliseconds. An examination runs with low priority, and has a
 * minute before it is given up.
 */
const TIMEOUT = 3 * WAIT_LIMIT;

/** How the runtime words a connection that ended before the answer began. */
const BROKEN = /closed before message completed|connection reset|broken pipe/i;

/** What a request sends, beside its path. */
export type Sent = Pick<RequestInit, "method" | "headers" | "body">;

/**
 * Sends requests over kept connections. A server may close a kept connection while a request is on
 * its way (RFC 9112, section 9.3.1); the client then sends it again, on a new connection.
 */
export class Sender implements Disposable {
  readonly #program: Program;
  readonly #once = Deno.createHttpClient({ poolMaxIdlePerHost: 0 });
  #again = 0;

  constructor(program: Program) {
    this.#program = program;
  }

  /** How many requests were sent again. */
  get again(): number {
    return this.#again;
  }

  /** @throws the runtime's error if a request on a new connection got no answer */
  async send(path: string, sent: Sent): Promise<Response> {
    try {
      return await this.#fetch(path, sent);
    } catch (error) {
      if (!BROKEN.test(describe(error))) throw error;
      this.#again++;
      return await this.#fetch(path, sent, this.#once);
    }
  }

  /** How many connections the program closed because they waited too long for a request. */
  async closedWaiting(): Promise<number> {
    const metrics = await (await call(this.#program, "GET", "/v1/metrics")).text();
    const counts = metrics.matchAll(
      /^muster_http_connections_closed_total\{[^}]*"(?:headers|idle)"[^}]*\} (\d+)$/gm,
    );
    return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
  }

  [Symbol.dispose](): void {
    this.#once.close();
  }

  #fetch(path: string, sent: Sent, client?: Deno.HttpClient): Promise<Response> {
    return fetch(this.#program.api + path, {
      ...sent,
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT),
      ...(client === undefined ? {} : { client }),
    });
  }
}

/** The words of an error and of its causes. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return `${error.message} ${error.cause === undefined ? "" : describe(error.cause)}`;
}
