import type { Principal } from "../services/identity/mod.ts";
import type { Log } from "../services/log.ts";
import type { Metrics } from "../services/metrics/mod.ts";

/** A request and its answer, whose headers are there. */
export interface Answered {
  readonly method: string;
  /** The pattern of the path; never the path itself, which may hold a secret as the query may. */
  readonly route: string;
  readonly status: number;
  readonly milliseconds: number;
  readonly requestId: string;
  /** Undefined where it was not found out who calls. */
  readonly principal: Principal | undefined;
  /** The client's address. */
  readonly address: string | undefined;
}

/** Where a request is noted. */
export interface Records {
  readonly metrics: Pick<Metrics, "requestAnswered">;
  readonly log: Log;
}

/** What machines ask every few seconds; it is logged at debug as long as all is well. */
const PROBES: ReadonlySet<string> = new Set(["/healthz", "/readyz", "/v1/metrics"]);

const METHODS: ReadonlySet<string> = new Set([
  "GET",
  "HEAD",
  "POST",
  "PUT",
  "PATCH",
  "DELETE",
  "OPTIONS",
]);

/** Counts an answered request in the metrics and writes its line of the access log. */
export function recordAnswer({ metrics, log }: Records, answered: Answered): void {
  const { route, status, milliseconds, requestId, principal, address } = answered;
  const method = METHODS.has(answered.method) ? answered.method : "other";
  metrics.requestAnswered({ method, route, status, seconds: milliseconds / 1000 });
  const level = PROBES.has(route) && status < 400 ? "debug" : "info";
  log[level]("Request", {
    method,
    route,
    status,
    ms: Math.round(milliseconds * 10) / 10,
    requestId,
    principal: principal === undefined ? null : describe(principal),
    address: address ?? null,
  });
}

function describe({ kind, name }: Principal): string {
  return kind === name ? name : `${kind} ${name}`;
}
