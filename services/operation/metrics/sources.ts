import type { BridgeStats } from "../../chat/bridge/mod.ts";
import type { ArchiveStats } from "../../chat/irc_server/history/mod.ts";
import type { IrcStats } from "../../engines/irc/mod.ts";
import { type BackendStats, LATENCY_BOUNDS } from "../../models/llm/mod.ts";
import type { NetworkStats } from "../../chat/irc_network/mod.ts";
import type { SyncStats } from "../../work/sync/mod.ts";
import type { ExportStats } from "../telemetry/mod.ts";
import type { Nodes } from "../../cluster/nodes/mod.ts";
import type { Measurements } from "./measurements.ts";
import type { Registry, Sample } from "./registry.ts";

/** Figures of the HTTP connections. */
export interface HttpStats {
  /** Open connections. */
  readonly connections: number;
  /** Connections closed since the start for a bound or a deadline, by reason. */
  readonly closed: Readonly<Record<string, number>>;
  /** How often a connection could not be accepted. */
  readonly acceptFailures: number;
}

/** What a worker does. */
export interface WorkerLoad {
  readonly running: number;
  readonly queued: number;
}

/** The services whose figures are exported. */
export interface MetricSources {
  /** Null for an external IRC network. */
  readonly irc: { stats(): IrcStats } | null;
  /** The IRC history on disk; null if it is not stored. */
  readonly history?: { stats(): ArchiveStats } | null;
  /** The accounts on such a network, or null. */
  readonly network: { stats(): NetworkStats } | null;
  /** Null if the configuration turns the bridge off. */
  readonly bridge: { stats(): BridgeStats; readonly ready: boolean } | null;
  readonly agents: {
    counts(): { readonly active: number; readonly total: number };
    readonly halts: { count(): number };
    readonly sendLimits: {
      rates(): Iterable<{ readonly nick: string; readonly perMinute: number }>;
    };
  };
  /** The HTTP connections; null if this program has none of its own. */
  readonly http?: { stats(): HttpStats } | null;
  readonly llm: { stats(): readonly BackendStats[] };
  readonly ledger?: { readonly lost: number };
  /** The export of calls to OpenTelemetry; null if there is none. */
  readonly callExport?: { stats(): ExportStats } | null;
  /** What the `fossil` program exchanges with projects. */
  readonly sync?: { stats(): SyncStats } | null;
  /** The servers that share the database. */
  readonly nodes?: Pick<Nodes, "self" | "isCurrent" | "leader" | "all" | "viewOf">;
  /** Figures that are read from time to time. */
  readonly measurements?: Pick<Measurements, "addTo">;
  /** What workers do, by their name: how much of it is under way, and how much waits. */
  readonly workers?: Readonly<Record<string, () => WorkerLoad>>;
  /** What was removed because it ended long ago. */
  readonly retention?: { readonly removed: ReadonlyMap<string, number> };
  readonly refusals: {
    totals(): Iterable<{ readonly door: string; readonly reason: string; readonly count: number }>;
  };
}

/** Adds the services' own counts, which are read on demand. */
export function addSources(
  registry: Registry,
  sources: MetricSources,
): void {
  const { irc, history = null, http = null, sync = null, network, bridge, agents, refusals } =
    sources;
  addRefusals(registry, refusals);
  sources.measurements?.addTo(registry);
  addWorkers(registry, sources);
  addAgents(registry, agents);
  addSpeech(registry, agents);
  if (irc !== null) addIrc(registry, irc);
  if (http !== null) addHttp(registry, http);
  if (history !== null) addHistory(registry, history);
  if (network !== null) addNetwork(registry, network);
  if (bridge !== null) addBridge(registry, bridge);
  addLlm(registry, sources.llm);
  addLedger(registry, sources);
  if (sync !== null) addSync(registry, sync);
  const { nodes } = sources;
  if (nodes !== undefined && nodes.self !== null) addNodes(registry, nodes, nodes.self);
}

function addWorkers(registry: Registry, { workers, retention }: MetricSources): void {
  if (workers !== undefined) {
    registry.sampled("gauge", {
      name: "worker_calls",
      help: "Calls of workers, by the worker, and by whether they are under way or wait",
      labels: ["worker", "state"],
    }, () =>
      Object.entries(workers).flatMap(([worker, read]) => {
        const { running, queued } = read();
        return [
          { labels: [worker, "running"], value: running },
          { labels: [worker, "waiting"], value: queued },
        ];
      }));
  }
  if (retention !== undefined) {
    registry.sampled("counter", {
      name: "retention_removed_total",
      help: "Rows that were removed because they ended long ago, by table",
      labels: ["table"],
    }, () => samples(retention.removed));
  }
}

/** Only a node has these. */
function addNodes(
  registry: Registry,
  nodes: NonNullable<MetricSources["nodes"]>,
  self: string,
): void {
  registry.sampled("gauge", {
    name: "node_info",
    help: "1, with the name of this node as its label",
    labels: ["node"],
  }, () => [{ labels: [self], value: 1 }]);
  registry.sampled("gauge", {
    name: "node_current",
    help: "Whether this node knows what the others have changed (1), or lets nobody in (0)",
  }, () => nodes.isCurrent ? 1 : 0);
  registry.sampled("gauge", {
    name: "node_leader",
    help: "Whether this node does what only one does (1) or not (0)",
  }, () => nodes.leader?.name === self ? 1 : 0);
  registry.sampled("gauge", {
    name: "nodes",
    help: "The nodes that share the database, by state, as this node sees them",
    labels: ["state"],
  }, (): Sample[] => {
    const states = nodes.all().map((node) => nodes.viewOf(node).state);
    return ["running", "draining", "stopped"].map((state) => ({
      labels: [state],
      value: states.filter((one) => one === state).length,
    }));
  });
}

function addSync(registry: Registry, sync: NonNullable<MetricSources["sync"]>): void {
  registry.sampled("counter", {
    name: "sync_messages_total",
    help: "Messages of the fossil program that were answered, by what they were for",
    labels: ["kind", "outcome"],
  }, () =>
    sync.stats().messages.map(({ kind, outcome, count }) => ({
      labels: [kind, outcome],
      value: count,
    })));
  registry.sampled("counter", {
    name: "sync_artifacts_total",
    help: "Artifacts that the fossil program exchanged with projects",
    labels: ["direction"],
  }, () => {
    const { artifactsSent, artifactsReceived } = sync.stats();
    return [
      { labels: ["sent"], value: artifactsSent },
      { labels: ["received"], value: artifactsReceived },
    ];
  });
}

function addAgents(registry: Registry, agents: MetricSources["agents"]): void {
  registry.sampled("gauge", {
    name: "agents_halted",
    help: "Active agents that are halted",
    labels: [],
  }, () => [{ labels: [], value: agents.halts.count() }]);
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

/** Only agents that sent something lately have a sample. */
function addSpeech(registry: Registry, { sendLimits }: MetricSources["agents"]): void {
  registry.sampled(
    "gauge",
    {
      name: "agent_messages_per_minute",
      help: "Messages that an agent sent within the last minute, over IRC, HTTP or MCP",
      labels: ["nick"],
    },
    (): Sample[] =>
      Array.from(
        sendLimits.rates(),
        ({ nick, perMinute }) => ({ labels: [nick], value: perMinute }),
      ),
  );
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

/** The name and help of each figure of the IRC server. */
const IRC_FIGURES = [
  ["clients", "gauge", "irc_clients", "Connections to the IRC server, registered or not"],
  ["registered", "gauge", "irc_registered_clients", "Clients that are registered on IRC"],
  ["virtual", "gauge", "irc_virtual_users", "Users of the IRC server without a connection"],
  ["channels", "gauge", "irc_channels", "Channels of the IRC server"],
  ["messagesIn", "counter", "irc_messages_received_total", "Messages received from IRC clients"],
  ["messagesOut", "counter", "irc_messages_sent_total", "Messages queued to IRC clients"],
  [
    "displaced",
    "counter",
    "irc_connections_displaced_total",
    "Connections that were not registered yet and made room for others",
  ],
  ["acceptFailures", "counter", "irc_accept_failures_total", "Failures to accept a connection"],
  ["banHits", "counter", "irc_ban_hits_total", "Clients that a ban ended or kept from IRC"],
] as const;

function addIrc(registry: Registry, irc: NonNullable<MetricSources["irc"]>): void {
  for (const [figure, kind, name, help] of IRC_FIGURES) {
    registry.sampled(kind, { name, help }, () => irc.stats()[figure]);
  }
  registry.sampled("gauge", {
    name: "irc_connections",
    help: "Connections to the IRC server, by their transport",
    labels: ["transport"],
  }, () => samples(irc.stats().transports));
  registry.sampled("counter", {
    name: "irc_connections_refused_total",
    help: "Connections to the IRC server that were refused for a limit or a ban, by which",
    labels: ["reason"],
  }, () => samples(Object.entries(irc.stats().refused)));
  registry.sampled("counter", {
    name: "irc_clients_cut_total",
    help: "IRC clients that were cut: they sent too much, or did not read what they got",
    labels: ["reason"],
  }, () => {
    const { floodCuts, sendQueueCuts } = irc.stats();
    return samples([["flood", floodCuts], ["send_queue", sendQueueCuts]]);
  });
}

function samples(values: Iterable<readonly [label: string, value: number]>): Sample[] {
  return Array.from(values, ([label, value]) => ({ labels: [label], value }));
}

function addHttp(registry: Registry, http: { stats(): HttpStats }): void {
  registry.sampled("gauge", {
    name: "http_connections",
    help: "HTTP connections that are open, of API and MCP",
  }, () => http.stats().connections);
  registry.sampled("counter", {
    name: "http_connections_closed_total",
    help: "HTTP connections that were closed for a bound or a deadline, by which",
    labels: ["reason"],
  }, () => samples(Object.entries(http.stats().closed)));
  registry.sampled("counter", {
    name: "http_accept_failures_total",
    help: "Failures to accept an HTTP connection",
  }, () => http.stats().acceptFailures);
}

/** The name and help of each figure of the history on disk. */
const HISTORY_FIGURES = [
  ["bytes", "gauge", "irc_history_bytes", "Bytes in use of the file that keeps IRC's history"],
  ["waiting", "gauge", "irc_history_waiting", "Changes of that file that wait to be written"],
  [
    "lost",
    "counter",
    "irc_history_lost_total",
    "Messages and events that are not in it because the disk did not take them",
  ],
] as const;

function addHistory(registry: Registry, history: { stats(): ArchiveStats }): void {
  for (const [figure, kind, name, help] of HISTORY_FIGURES) {
    registry.sampled(kind, { name, help }, () => history.stats()[figure]);
  }
}

/** The name and help of each figure of the accounts on a network. */
const NETWORK_FIGURES = [
  [
    "unsettled",
    "gauge",
    "network_unsettled_accounts",
    "Accounts that may differ on the IRC network from what they should be",
  ],
  [
    "repaired",
    "counter",
    "network_repairs_total",
    "Differences between the IRC network and the database that were mended",
  ],
] as const;

function addNetwork(registry: Registry, network: NonNullable<MetricSources["network"]>): void {
  registry.sampled("gauge", {
    name: "network_reachable",
    help: "1 while the accounts of the IRC network can be reached, else 0",
  }, () => Number(network.stats().reachable));
  for (const [figure, kind, name, help] of NETWORK_FIGURES) {
    registry.sampled(kind, { name, help }, () => network.stats()[figure]);
  }
}

/** The name and help of each figure of the bridge. */
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

function addLedger(registry: Registry, { ledger, callExport = null }: MetricSources): void {
  if (ledger !== undefined) {
    registry.sampled("counter", {
      name: "llm_calls_unrecorded_total",
      help: "Calls of language models that the ledger lacks, because the database refused them",
    }, () => ledger.lost);
  }
  if (callExport === null) return;
  registry.sampled("counter", {
    name: "otlp_spans_total",
    help: "Calls of language models that were exported to OpenTelemetry, or lost on the way",
    labels: ["outcome"],
  }, () => {
    const { sent, lost } = callExport.stats();
    return [{ labels: ["sent"], value: sent }, { labels: ["lost"], value: lost }];
  });
}

function addLlm(registry: Registry, llm: MetricSources["llm"]): void {
  registry.sampled(
    "counter",
    {
      name: "llm_calls_total",
      help: "Calls of language models, by backend and by how they ended",
      labels: ["backend", "outcome"],
    },
    () =>
      llm.stats().flatMap(({ backend, calls }) =>
        Object.entries(calls).map(([outcome, value]) => ({ labels: [backend, outcome], value }))
      ),
  );
  registry.sampled("counter", {
    name: "llm_tokens_total",
    help: "Tokens that language models counted, of prompts and of completions",
    labels: ["backend", "kind"],
  }, () =>
    llm.stats().flatMap(({ backend, promptTokens, completionTokens }) => [
      { labels: [backend, "prompt"], value: promptTokens },
      { labels: [backend, "completion"], value: completionTokens },
    ]));
  registry.sampledHistogram(
    {
      name: "llm_call_duration_seconds",
      help: "Time that calls of language models took",
      labels: ["backend"],
    },
    LATENCY_BOUNDS,
    () =>
      llm.stats().map(({ backend, latency: { buckets, sumSeconds: sum } }) => ({
        labels: [backend],
        buckets,
        sum,
      })),
  );
}
