import process from "node:process";
import { type Scheduler, untilMultiple } from "../../kernel/scheduler.ts";
import { VERSION } from "../../kernel/version.ts";
import { MetricHistory } from "./history.ts";
import { type Counter, type Histogram, Registry } from "./registry.ts";
import { addSources, type MetricSources } from "./sources.ts";

/**
 * Bucket bounds for the time of an answer, in seconds; the longest are for requests that wait for
 * news.
 */
const ANSWER_BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60];

/** Bucket bounds for the delay of a timer, in seconds. */
const LAG_BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

/** An HTTP request and its answer. */
export interface AnsweredRequest {
  readonly method: string;
  /** The pattern of the path, never the path itself. */
  readonly route: string;
  readonly status: number;
  /** The time until the headers of the answer. */
  readonly seconds: number;
}

/** Counts events, and exports the counts in the text format of Prometheus. */
export class Metrics {
  readonly #registry = new Registry("muster_");
  readonly #requests: Counter;
  readonly #requestSeconds: Histogram;
  readonly #calls: Counter;
  readonly #callSeconds: Histogram;
  readonly #stopWatching: () => void;
  /** The figures of the last two hours, once it is started. */
  readonly history: MetricHistory;
  #streams = 0;

  constructor(sources: MetricSources, scheduler: Scheduler) {
    const registry = this.#registry;
    registry.sampled("gauge", {
      name: "build_info",
      help: "1, with the version of muster and of its runtime as labels",
      labels: ["version", "deno"],
    }, () => [{ labels: [VERSION, Deno.version.deno], value: 1 }]);
    this.#requests = registry.counter({
      name: "http_requests_total",
      help: "HTTP requests that were answered, by the pattern of their path",
      labels: ["route", "method", "status"],
    });
    this.#requestSeconds = registry.histogram({
      name: "http_request_duration_seconds",
      help: "Time until the headers of an answer were there",
      labels: ["route", "method"],
    }, ANSWER_BOUNDS);
    this.#calls = registry.counter({
      name: "mcp_calls_total",
      help: "Calls of MCP tools; the outcome is ok or error",
      labels: ["tool", "outcome"],
    });
    this.#callSeconds = registry.histogram({
      name: "mcp_call_duration_seconds",
      help: "Time that calls of MCP tools took",
      labels: ["tool"],
    }, ANSWER_BOUNDS);
    registry.sampled("gauge", {
      name: "stream_readers",
      help: "Event streams that are open",
    }, () => this.#streams);
    addSources(registry, sources);
    const lag = registry.histogram({
      name: "event_loop_lag_seconds",
      help: "How late a timer was, once a second",
    }, LAG_BOUNDS);
    this.#stopWatching = watchEventLoop((seconds) => lag.observe(seconds));
    addProcessFigures(registry);
    this.history = new MetricHistory({ registry, scheduler });
  }

  /** Counts an answered HTTP request. */
  requestAnswered({ method, route, status, seconds }: AnsweredRequest): void {
    this.#requests.add(1, route, method, String(status));
    this.#requestSeconds.observe(seconds, route, method);
  }

  /** Counts a call of an MCP tool that exists. */
  toolCalled(tool: string, outcome: "ok" | "error", seconds: number): void {
    this.#calls.add(1, tool, outcome);
    this.#callSeconds.observe(seconds, tool);
  }

  /** Counts an event stream that was opened. */
  streamOpened(): void {
    this.#streams++;
  }

  /** Counts the end of an event stream. */
  streamClosed(): void {
    this.#streams--;
  }

  /** Everything, in the text format of Prometheus, version 0.0.4. */
  render(): string {
    return this.#registry.render();
  }

  /** Stops measuring the event loop. */
  close(): void {
    this.#stopWatching();
    this.history.close();
  }
}

/** How often the delay is measured, in milliseconds: at its multiples, together with other timers. */
const INTERVAL = 1000;

/**
 * Measures how late timers run, which is how long any other due task must wait.
 *
 * @param observe receives each delay, in seconds
 * @returns a function that ends it
 */
function watchEventLoop(observe: (seconds: number) => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const wait = () => {
    const milliseconds = untilMultiple(INTERVAL, Date.now());
    const due = performance.now() + milliseconds;
    timer = setTimeout(() => {
      observe(Math.max(0, performance.now() - due) / 1000);
      wait();
    }, milliseconds);
    Deno.unrefTimer(timer);
  };
  wait();
  return () => clearTimeout(timer);
}

/** Adds the runtime's figures of this process, under their conventional names. */
function addProcessFigures(registry: Registry): void {
  const started = Date.now() / 1000 - process.uptime();
  registry.sampled("counter", {
    name: "process_cpu_seconds_total",
    help: "Processor time of this process, of user and system together",
  }, () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000_000;
  });
  registry.sampled("gauge", {
    name: "process_resident_memory_bytes",
    help: "Memory of this process that is resident",
  }, () => Deno.memoryUsage().rss);
  registry.sampled("gauge", {
    name: "process_heap_bytes",
    help: "Memory of the JavaScript heap that is in use",
  }, () => Deno.memoryUsage().heapUsed);
  registry.sampled("gauge", {
    name: "process_start_time_seconds",
    help: "When the process was started, in seconds since 1970",
  }, () => started);
}
