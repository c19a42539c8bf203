import type { Scheduler } from "../../kernel/scheduler.ts";
import { untilMultiple } from "../../kernel/scheduler.ts";
import type { Registry, Totals } from "./registry.ts";

/** How often figures are kept, in milliseconds. */
const STEP = 15_000;

/** Samples in memory: two hours. */
const KEPT = 480;

/** Figures that are kept, by the names of their metrics without the prefix. */
const NUMBERS = [
  "http_requests_total",
  "mcp_calls_total",
  "stream_readers",
  "irc_connections",
  "http_connections",
  "llm_calls_total",
  "login_failures_total",
  "process_cpu_seconds_total",
  "process_resident_memory_bytes",
  "process_heap_bytes",
] as const;

/** Distributions that are kept. */
const DISTRIBUTIONS = [
  "http_request_duration_seconds",
  "mcp_call_duration_seconds",
  "event_loop_lag_seconds",
] as const;

/** A figure that is kept. */
export type KeptNumber = (typeof NUMBERS)[number];
export type KeptDistribution = (typeof DISTRIBUTIONS)[number];

/** All figures at a time. */
interface Sample {
  /** Unix milliseconds. */
  readonly time: number;
  readonly numbers: ReadonlyMap<string, number>;
  readonly distributions: ReadonlyMap<string, Totals>;
}

/** A value at a time; null if there was nothing to measure. */
export interface Point {
  /** Unix milliseconds. */
  readonly time: number;
  readonly value: number | null;
}

export interface MetricHistoryOptions {
  readonly registry: Registry;
  readonly scheduler: Scheduler;
}

/** The figures of the last two hours, in memory, for plots. */
export class MetricHistory {
  readonly #options: MetricHistoryOptions;
  readonly #samples: Sample[] = [];
  #cancel: () => void = () => {};

  constructor(options: MetricHistoryOptions) {
    this.#options = options;
  }

  /** Begins to keep figures. */
  start(): void {
    this.close();
    this.#sample();
    this.#expect();
  }

  /** Stops. */
  close(): void {
    this.#cancel();
  }

  /** The values of a figure. */
  values(name: KeptNumber): readonly Point[] {
    return this.#samples.map(({ time, numbers }) => ({ time, value: numbers.get(name) ?? null }));
  }

  /** How fast a counter grew before each sample, per second. */
  rates(name: KeptNumber): readonly Point[] {
    return this.#pairs().map(([before, after]) => {
      const grown = (after.numbers.get(name) ?? 0) - (before.numbers.get(name) ?? 0);
      const seconds = (after.time - before.time) / 1000;
      return { time: after.time, value: seconds > 0 ? Math.max(0, grown / seconds) : null };
    });
  }

  /**
   * The value below which a share of the observations before each sample lay, from the bounds of
   * their buckets; null if there were none.
   *
   * @param share such as 0.99
   */
  quantiles(name: KeptDistribution, share: number): readonly Point[] {
    return this.#pairs().map(([before, after]) => {
      const old = before.distributions.get(name);
      const now = after.distributions.get(name);
      const value = old === undefined || now === undefined ? null : quantile(old, now, share);
      return { time: after.time, value };
    });
  }

  #pairs(): readonly (readonly [Sample, Sample])[] {
    return this.#samples.slice(1).map((sample, index) =>
      [this.#samples[index] ?? sample, sample] as const
    );
  }

  #expect(): void {
    const { scheduler } = this.#options;
    this.#cancel = scheduler.after(untilMultiple(STEP, scheduler.now()), () => {
      this.#sample();
      this.#expect();
    });
  }

  #sample(): void {
    const { registry, scheduler } = this.#options;
    this.#samples.push({
      time: scheduler.now(),
      numbers: new Map(NUMBERS.map((name) => [name, registry.total(name)])),
      distributions: new Map(DISTRIBUTIONS.flatMap((name) => {
        const totals = registry.totals(name);
        return totals === null ? [] : [[name, totals] as const];
      })),
    });
    if (this.#samples.length > KEPT) this.#samples.shift();
  }
}

/** Interpolates within the bucket that holds the share of the observations between two samples. */
function quantile(before: Totals, after: Totals, share: number): number | null {
  const counts = after.buckets.map((count, index) => count - (before.buckets[index] ?? 0));
  const all = counts.at(-1) ?? 0;
  if (all <= 0) return null;
  const wanted = share * all;
  const index = counts.findIndex((count) => count >= wanted);
  const low = index > 0 ? after.bounds[index - 1] ?? 0 : 0;
  const high = after.bounds[index];
  if (high === undefined) return low;
  const below = index > 0 ? counts[index - 1] ?? 0 : 0;
  const inside = (counts[index] ?? 0) - below;
  return inside <= 0 ? high : low + (high - low) * (wanted - below) / inside;
}
