/** Exports calls of language models to OpenTelemetry. */
export type { ExportStats } from "./exporter.ts";
export { type CallExport, type CallExportOptions, openCallExport } from "./open.ts";
export type { OtlpConfig } from "./schemas.ts";
