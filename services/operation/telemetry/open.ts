import type { Ledger } from "../../models/ledger/mod.ts";
import type { Log } from "../../kernel/log.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import type { ExportStats } from "./exporter.ts";
import { addressOfSpans, headersFrom } from "./settings.ts";
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
