import type { Bridge } from "../../chat/bridge/mod.ts";
import {
  Measurements,
  type MetricHistory,
  Metrics,
  type MetricSources,
  Status,
} from "../metrics/mod.ts";
import type { Hosting } from "./hosting.ts";
import type { IrcHost } from "./irc_host.ts";
import type { Models } from "./models.ts";
import type { Stores } from "./stores.ts";

/** Figures about the program, and whether it is ready. */
export interface Figures {
  readonly metrics: Pick<
    Metrics,
    "requestAnswered" | "toolCalled" | "streamOpened" | "streamClosed" | "render"
  >;
  /** The figures of the last two hours; a program that shows them starts it. */
  readonly metricHistory: MetricHistory;
  readonly status: Status;
}

export interface FigureSurroundings extends Models {
  readonly bridge: Bridge | null;
  readonly hosting: Hosting;
  readonly http: NonNullable<MetricSources["http"]> | null;
}

export function openFigures(
  stores: Stores,
  irc: IrcHost,
  surroundings: FigureSurroundings,
  started: AsyncDisposableStack,
): Figures {
  const measurements = makeMeasurements(stores, surroundings);
  measurements.start();
  started.defer(() => measurements.close());
  const metrics = makeMetrics(stores, irc, { ...surroundings, measurements });
  started.defer(() => metrics.close());
  const status = makeStatus(stores, irc, surroundings);
  return { metrics, metricHistory: metrics.history, status };
}

function makeMetrics(
  { identity: { refusals, passwords }, database, history, nodes, scheduler }: Stores,
  { people: { agents }, server: irc, network }: IrcHost,
  { bridge, hosting, llm, accounting, callExport, http, measurements }: FigureSurroundings & {
    readonly measurements: Measurements;
  },
): Metrics {
  return new Metrics({
    irc,
    network,
    bridge,
    agents,
    llm: llm.gateway,
    ledger: accounting.ledger,
    callExport,
    refusals,
    history,
    http,
    sync: hosting.sync,
    measurements,
    workers: {
      database: () => database.load,
      passwords: () => passwords.load,
      repositories: () => hosting.repositories.load,
      sql: () => hosting.sqlQueries.load,
      texts: () => hosting.texts.load,
    },
    retention: hosting.retention,
    nodes,
  }, scheduler);
}

function makeMeasurements(
  { config, database, folder, scheduler, log }: Stores,
  { hosting: { projects, repositories, hourlyQuotas, retention } }: FigureSurroundings,
): Measurements {
  return new Measurements({
    database,
    folders: { data: folder.path, projects: repositories.files.folder },
    databaseFile: config.database.url === "" ? folder.file("muster.db") : null,
    certificate: config.tls.cert || null,
    quotas: {
      storage: repositories.quotas,
      hourly: () => Object.values(hourlyQuotas).map(({ figures }) => figures),
    },
    retentionDays: retention.days,
    projects: () => projects.all().filter(({ project }) => repositories.homes.isHere(project)),
    scheduler,
    log,
  });
}

function makeStatus(
  { database, history, space, scheduler, nodes, draining }: Stores,
  { people, network }: IrcHost,
  { bridge, hosting: { repositories } }: FigureSurroundings,
): Status {
  return new Status({
    clock: scheduler.now,
    agents: () => people.agents.counts().total,
    halted: () => people.agents.halts.isAny,
    agentsHalted: () => people.agents.halts.count(),
    healthy: () => database.trouble === null && (history?.problem ?? null) === null,
    async recheck() {
      await Promise.all([database.probe(), history?.recheck()]);
    },
    node: nodes.self === null ? null : nodes,
    parts: {
      node: () => draining.isDrained ? "drained" : true,
      database: () => database.isCurrent ? database.trouble === null : "out of touch",
      history: () => history?.problem ?? true,
      space: () => space.isShort ? "the disk is nearly full" : true,
      bridge: () => bridge === null || bridge.ready,
      network: () => network?.trouble ?? true,
      repositories: () => repositories.files.trouble ?? true,
    },
  });
}
