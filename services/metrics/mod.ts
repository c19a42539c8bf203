/** Counts what happens and tells it to Prometheus. */
export { type AnsweredRequest, Metrics, type MetricSources } from "./metrics.ts";
export {
  type Counter,
  type Histogram,
  type MetricDescription,
  Registry,
  type Sample,
} from "./registry.ts";
