import type { BridgeStats } from "../bridge/mod.ts";
import type { IrcStats } from "../irc/mod.ts";
import { VERSION } from "../version.ts";
import { watchEventLoop } from "./event_loop.ts";
import { addProcessFigures } from "./process_figures.ts";
import { type Counter, type Histogram, Registry, type Sample } from "./registry.ts";

/** Bounds of how long an answer took, in seconds; the longest are requests that wait for news. */
const ANSWER_BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60];

/** Bounds of how late a timer was, in seconds. */
const LAG_BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

/** What was asked over HTTP and how it was answered. */
export interface AnsweredRequest {
  readonly method: string;
  /** The pattern of the path, never the path itself. */
  readonly route: string;
  readonly status: number;
  /** Until the headers of the answer were there. */
  readonly seconds: number;
}

/** What the services know by themselves. */
export interface MetricSources {
  readonly irc: { stats(): IrcStats };
  /** Null where the configuration turns the bridge off. */
  readonly bridge: { stats(): BridgeStats; readonly ready: boolean } | null;
  readonly agents: { counts(): { readonly active: number; readonly total: number } };
  readonly refusals: {
    totals(): Iterable<{ readonly door: string; readonly reason: string; readonly count: number }>;
  };
}

/** Counts what happens, and tells it in the text format of Prometheus. */
export class Metrics {
  readonly #registry = new Registry("muster_");
  readonly #requests: Counter;
  readonly #requestSeconds: Histogram;
  readonly #calls: Counter;
  readonly #callSeconds: Histogram;
  readonly #stopWatching: () => void;
  #streams = 0;

  constructor(sources: MetricSources) {
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
    addRefusals(registry, sources.refusals);
    addAgents(registry, sources.agents);
    addIrc(registry, sources.irc);
    if (sources.bridge !== null) addBridge(registry, sources.bridge);
    const lag = registry.histogram({
      name: "event_loop_lag_seconds",
      help: "How late a timer was, twice a second",
    }, LAG_BOUNDS);
    this.#stopWatching = watchEventLoop((seconds) => lag.observe(seconds));
    addProcessFigures(registry);
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

  /** Counts an event stream that is over. */
  streamClosed(): void {
    this.#streams--;
  }

  /** Everything, in the text format of Prometheus, version 0.0.4. */
  render(): string {
    return this.#registry.render();
  }

  /** Ends the watching of the event loop. */
  close(): void {
    this.#stopWatching();
  }
}

function addAgents(registry: Registry, agents: MetricSources["agents"]): void {
  registry.sampled("gauge", {
    name: "agents",
    help: "Agent records, by state",
    labels: ["state"],
  }, (): Sample[] => {
    const { active, total } = agents.counts();
    return [
      { labels: ["active"], value: active },
      { labels: ["revoked"], value: total - active },
    ];
  });
}

function addRefusals(registry: Registry, refusals: MetricSources["refusals"]): void {
  registry.sampled("counter", {
    name: "login_failures_total",
    help: "Passwords and tokens that were refused, by how they came in and why",
    labels: ["door", "reason"],
  }, () => {
    const totals = [...refusals.totals()];
    return totals.map(({ door, reason, count }) => ({ labels: [door, reason], value: count }));
  });
}

/** How each figure of the IRC server is called and what it tells. */
const IRC_FIGURES = [
  ["clients", "gauge", "irc_clients", "Connections to the IRC server, registered or not"],
  ["registered", "gauge", "irc_registered_clients", "Clients that are registered on IRC"],
  ["channels", "gauge", "irc_channels", "Channels of the IRC server"],
  ["messagesIn", "counter", "irc_messages_received_total", "Messages received from IRC clients"],
  ["messagesOut", "counter", "irc_messages_sent_total", "Messages queued to IRC clients"],
  [
    "connectionsRefused",
    "counter",
    "irc_connections_refused_total",
    "Connections to the IRC server that were refused because of a limit",
  ],
] as const;

function addIrc(registry: Registry, irc: MetricSources["irc"]): void {
  for (const [figure, kind, name, help] of IRC_FIGURES) {
    registry.sampled(kind, { name, help }, () => irc.stats()[figure]);
  }
}

/** How each figure of the bridge is called and what it tells. */
const BRIDGE_FIGURES = [
  ["channels", "gauge", "bridge_channels", "Channels that the bridge is in"],
  ["received", "counter", "bridge_messages_received_total", "Messages that the bridge kept"],
  ["posted", "counter", "bridge_messages_posted_total", "Messages that IRC took from the bridge"],
  ["disconnects", "counter", "bridge_disconnects_total", "How often the bridge lost IRC"],
  ["waiting", "gauge", "bridge_waiting_readers", "Requests that wait for a message"],
  ["cut", "counter", "stream_readers_cut_total", "Event streams whose reader fell behind"],
] as const;

function addBridge(registry: Registry, bridge: NonNullable<MetricSources["bridge"]>): void {
  registry.sampled("gauge", {
    name: "bridge_ready",
    help: "1 while the bridge is connected and in its channels, else 0",
  }, () => Number(bridge.ready));
  for (const [figure, kind, name, help] of BRIDGE_FIGURES) {
    registry.sampled(kind, { name, help }, () => bridge.stats()[figure]);
  }
}
