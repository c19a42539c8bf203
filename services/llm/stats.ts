import type { TokenUsage } from "./chat/chat.ts";

/** How a call of a model ended: with an answer, with an error, or because the caller left. */
export type Outcome = "completed" | "failed" | "cancelled";

/** Upper bounds of the buckets of the latency histogram, in seconds; the last one is endless. */
export const LATENCY_BOUNDS: readonly number[] = Object.freeze([
  0.25,
  0.5,
  1,
  2.5,
  5,
  10,
  20,
  40,
  80,
  160,
  320,
]);

/** The statistics of one backend since the start; every figure only grows. */
export interface BackendStats {
  readonly backend: string;
  readonly calls: Readonly<Record<Outcome, number>>;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly latency: {
    /** The number of calls in each bucket; the last one counts the rest. */
    readonly buckets: readonly number[];
    readonly sumSeconds: number;
    readonly count: number;
  };
}

interface Counters {
  readonly calls: Record<Outcome, number>;
  readonly buckets: number[];
  promptTokens: number;
  completionTokens: number;
  sumSeconds: number;
}

/** Counts the calls of models, by backend. */
export class CallStats {
  readonly #counters = new Map<string, Counters>();

  add(backend: string, outcome: Outcome, seconds: number, usage: TokenUsage): void {
    const counters = this.#of(backend);
    counters.calls[outcome]++;
    counters.promptTokens += usage.prompt ?? 0;
    counters.completionTokens += usage.completion ?? 0;
    counters.sumSeconds += seconds;
    const place = LATENCY_BOUNDS.findIndex((bound) => seconds <= bound);
    const bucket = place < 0 ? LATENCY_BOUNDS.length : place;
    counters.buckets[bucket] = (counters.buckets[bucket] ?? 0) + 1;
  }

  /** Forgets a removed backend. */
  forget(backend: string): void {
    this.#counters.delete(backend);
  }

  read(): BackendStats[] {
    return [...this.#counters].map(([backend, counters]) => {
      const { calls, buckets, promptTokens, completionTokens, sumSeconds } = counters;
      const count = calls.completed + calls.failed + calls.cancelled;
      const latency = { buckets: cumulative(buckets), sumSeconds, count };
      return { backend, calls: { ...calls }, promptTokens, completionTokens, latency };
    });
  }

  #of(backend: string): Counters {
    const known = this.#counters.get(backend);
    if (known !== undefined) return known;
    const counters: Counters = {
      calls: { completed: 0, failed: 0, cancelled: 0 },
      buckets: Array.from({ length: LATENCY_BOUNDS.length + 1 }, () => 0),
      promptTokens: 0,
      completionTokens: 0,
      sumSeconds: 0,
    };
    this.#counters.set(backend, counters);
    return counters;
  }
}

/** The cumulative figures, as Prometheus counts buckets. */
function cumulative(counts: readonly number[]): number[] {
  let sum = 0;
  return counts.map((count) => sum += count);
}
