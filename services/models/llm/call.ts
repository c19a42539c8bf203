import { Halted, type ServiceError } from "../../kernel/errors.ts";
import type { Caller } from "../../people/identity/mod.ts";
import type { Admission } from "../ledger/mod.ts";
import type { Backend } from "./backends.ts";
import { cutShort } from "./chat/chat.ts";
import type { Exchange } from "./exchange.ts";
import type { AnswerPart, ServerEvent, WholeAnswer } from "./formats/format.ts";
import { type TokenUsage, Told } from "./report.ts";

/** Most parts that are held back because they say nothing yet. */
const MAX_HELD = 16;

/** The caller, the backend and the model of a call. */
interface CallAbout {
  readonly caller: Caller;
  readonly backend: Backend;
  /** Undefined for the provider's choice. */
  readonly model: string | undefined;
  readonly streamed: boolean;
  /** Tokens of the request, about. */
  readonly requestTokens: () => number;
  /** Where the provider is. */
  readonly address: string;
  readonly admission: Admission;
  /** Unix milliseconds. */
  readonly startedAt: number;
}

/** One call of a model. It ends exactly once. */
export class Call {
  readonly about: CallAbout;
  /** What the provider told so far. */
  readonly told = new Told();
  /** The class of the error that ended it, or null. */
  error: string | null = null;
  readonly #exchange: Exchange;
  readonly #onEnd: (call: Call, outcome: Outcome) => Promise<void>;
  readonly #started = performance.now();
  readonly #over = Promise.withResolvers<void>();
  #ended = false;

  /** @param onEnd receives the outcome, and must not throw */
  constructor(
    exchange: Exchange,
    about: CallAbout,
    onEnd: (call: Call, outcome: Outcome) => Promise<void>,
  ) {
    this.#exchange = exchange;
    this.about = about;
    this.#onEnd = onEnd;
    exchange.ended.addEventListener("abort", () => this.end(this.#brokenOutcome), { once: true });
  }

  /** So far. */
  get milliseconds(): number {
    return Math.round(performance.now() - this.#started);
  }

  /** Runs a part of the call; if it fails, ends the call and throws the error for the caller. */
  async run<Result>(part: () => Promise<Result>): Promise<Result> {
    try {
      return await part();
    } catch (error) {
      const told = this.#exchange.explain(error);
      this.error = told instanceof Error ? told.name : "Error";
      await this.end(this.#brokenOutcome);
      throw told;
    }
  }

  /** Reads a whole answer, which ends the call. Returns its text. */
  async take({ report, text }: WholeAnswer): Promise<string> {
    this.told.take(report);
    const redacted = this.#exchange.redact(text);
    await this.end(this.#toldOutcome);
    return redacted;
  }

  /**
   * Waits for the first part that says something, so that an earlier failure is an error and not a
   * broken stream.
   */
  async begin(parts: AsyncIterable<AnswerPart>): Promise<ReadableStream<ServerEvent>> {
    const iterator = parts[Symbol.asyncIterator]();
    const read = async () => {
      const next = await iterator.next();
      if (!next.done) this.told.take(next.value.report);
      return next;
    };
    const held: IteratorResult<AnswerPart>[] = [];
    for (let isBegun = false; !isBegun;) {
      const next = await read();
      if (next.done && held.length === 0) throw cutShort();
      held.push(next);
      isBegun = next.done === true || held.length >= MAX_HELD || next.value.begins;
    }
    const pull = async (controller: ReadableStreamDefaultController<ServerEvent>) => {
      for (;;) {
        const { value, done } = held.shift() ?? await this.run(read);
        if (done) {
          await this.end(this.#toldOutcome);
          return controller.close();
        }
        for (const { name, data } of value.events) {
          controller.enqueue({ name, data: this.#exchange.redact(data) });
        }
        if (value.events.length > 0) return;
      }
    };
    const cancel = () => this.end("cancelled");
    return new ReadableStream({ pull, cancel }, { highWaterMark: 0 });
  }

  /** Ends the call for a reason of muster's own, which the caller gets. */
  abort(reason: ServiceError): void {
    this.#exchange.abort(reason);
  }

  /** Resolves when the call has ended and is in the event log. */
  get over(): Promise<void> {
    return this.#over.promise;
  }

  /** Ends the call, unless it is ended already. */
  end(outcome: Outcome): Promise<void> {
    if (!this.#ended) {
      this.#ended = true;
      this.#over.resolve(this.#onEnd(this, outcome));
      this.#exchange.close();
    }
    return this.over;
  }

  get #toldOutcome(): Outcome {
    return this.told.hasFailed ? "failed" : "completed";
  }

  get #brokenOutcome(): Outcome {
    const { failure, ended } = this.#exchange;
    const isCancelled = failure === null ? ended.aborted : failure instanceof Halted;
    return isCancelled ? "cancelled" : "failed";
  }
}

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
