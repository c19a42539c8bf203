/** Counts events and exports the counts to Prometheus. */
export {
  type KeptDistribution,
  type KeptNumber,
  MetricHistory,
  type MetricHistoryOptions,
  type Point,
} from "./history.ts";
export { Measurements, type MeasurementsOptions } from "./measurements.ts";
export { type AnsweredRequest, Metrics } from "./metrics.ts";
export {
  type Counter,
  type DistributionSample,
  type Histogram,
  type MetricDescription,
  Registry,
  type Sample,
} from "./registry.ts";
export type { HttpStats, MetricSources } from "./sources.ts";
export { Status, type StatusReport, type StatusSources } from "./status.ts";
