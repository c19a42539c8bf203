import type { Ledger } from "../../models/ledger/mod.ts";
import type { Log } from "../../kernel/log.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import type { ExportStats } from "./exporter.ts";
import type { OtlpConfig } from "./schemas.ts";

/** What others use of the export. */
export interface CallExport {
  stats(): ExportStats;
}

export interface CallExportOptions {
  readonly config: OtlpConfig;
  readonly environment: (variable: string) => string | undefined;
  readonly ledger: Pick<Ledger, "onRecorded">;
  readonly scheduler: Scheduler;
  readonly log: Log;
}

/**
 * Exports every call of a model from now on, if the configuration says where to. Adds what must be
 * closed to the stack.
 *
 * @returns null without an endpoint
 */
export async function openCallExport(
  { config: { endpoint, headers_env: variable }, environment, ledger, scheduler, log }:
    CallExportOptions,
  started: AsyncDisposableStack,
): Promise<CallExport | null> {
  if (endpoint === "") return null;
  const headers = headersFrom(variable === "" ? "" : environment(variable) ?? "");
  if (headers === null) {
    log.warn("Calls of models are exported without headers: the variable has another form", {
      variable,
    });
  }
  const { SpanExporter } = await import("./exporter.ts");
  const exporter = new SpanExporter({
    url: addressOfSpans(endpoint),
    headers: headers ?? new Headers(),
    scheduler,
    log,
  });
  ledger.onRecorded((entry) => exporter.add(entry));
  started.defer(() => exporter.close());
  return exporter;
}

/** `name=value` pairs with commas between them, as in OTEL_EXPORTER_OTLP_HEADERS. */
const PAIR = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*=(.*)$/;

/** The address for spans: that of the endpoint, with `/v1/traces` at its end. */
export function addressOfSpans(endpoint: string): URL {
  const url = new URL(endpoint);
  const path = url.pathname.replace(/(?<!\/)\/+$/, "");
  url.pathname = path.endsWith("/v1/traces") ? path : `${path}/v1/traces`;
  return url;
}

/**
 * Reads headers as the value of OTEL_EXPORTER_OTLP_HEADERS names them.
 *
 * @returns null if the text has another form
 */
export function headersFrom(text: string): Headers | null {
  const headers = new Headers();
  try {
    for (const part of text.split(",")) {
      if (part.trim() === "") continue;
      const [, name, value] = PAIR.exec(part.trim()) ?? [];
      if (name === undefined || value === undefined) return null;
      headers.set(name, decodeURIComponent(value.trim()));
    }
  } catch {
    return null;
  }
  return headers;
}
