import type { Principal } from "../services/people/identity/mod.ts";
import type { Log } from "../services/kernel/log.ts";
import type { Metrics } from "../services/operation/metrics/mod.ts";

/** A request and its answer, once the headers are known. */
export interface Answered {
  readonly method: string;
  /** The pattern of the path; never the path or query itself, which may contain a secret. */
  readonly route: string;
  readonly status: number;
  readonly milliseconds: number;
  readonly requestId: string;
  /** Undefined if the caller was not authenticated. */
  readonly principal: Principal | undefined;
  /** The client's address. */
  readonly address: string | undefined;
}

/** Records requests. */
export interface Records {
  readonly metrics: Pick<Metrics, "requestAnswered">;
  readonly log: Log;
}

/** Polled by machines every few seconds; logged at debug level while it succeeds. */
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
  log.request(PROBES.has(route) && status < 400 ? "debug" : "info", {
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
