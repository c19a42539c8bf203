import { setPriority } from "node:os";
import { cpuUsage } from "node:process";
import {
  type ArrivalHandler,
  bodyLimitsOf,
  BodyReader,
  Callers,
  type Certificate,
  chooseServeConnection,
  Forwarding,
  Hosts,
  type HttpHandler,
  type HttpServer,
  TrustedProxies,
  WITHOUT_SERVER,
} from "../http/mod.ts";
import { once } from "../routes/once.ts";
import { JobPlacement, LeaderPlacement, ProjectPlacement } from "../routes/placements.ts";
import { ServedApi } from "../routes/serving.ts";
import type { AcmeCertificate } from "../services/operation/acme/mod.ts";
import type { Admins, FirstAdmin } from "../services/people/admins/mod.ts";
import {
  type Address,
  type Config,
  DataFolder,
  DataFolderError,
  formatAddress,
  urlOf,
} from "../services/operation/config/mod.ts";
import {
  type Daemon,
  type IrcAddresses,
  type Services,
  startDaemon,
} from "../services/operation/daemon/mod.ts";
import { Conflict, Unavailable } from "../services/kernel/errors.ts";
import { removeLeftSockets } from "../services/kernel/process_port.ts";
import { inBackground } from "../services/kernel/sweep.ts";
import type { Log } from "../services/kernel/log.ts";
import type { ExaminationProcess, StartExamination } from "../services/operation/control/mod.ts";
import { systemScheduler } from "../services/kernel/scheduler.ts";
import type { OwnRunner } from "./own_runner.ts";
import { programArguments } from "./program_arguments.ts";
import { buildId, ownProgram, VERSION } from "../services/kernel/version.ts";
import { LEADER_PAGES } from "../web/leader_pages.ts";
import { readCertificate, requireAuthorities } from "./certificates.ts";
import { Connections, pagesAt } from "./connections.ts";
import { readEndpoints, writeEndpoints } from "./endpoints.ts";
import { UncaughtErrors } from "./last_resort.ts";
import { LateMcp, prepareForAgents } from "./late_mcp.ts";
import { Logging } from "./logging.ts";
import { CommandFailed } from "./output.ts";
import {
  endSignals,
  releaseStartMemory,
  reloadSignals,
  restrictNewFiles,
  silenceDeprecations,
} from "./platform.ts";
import {
  findClearText,
  findListenProblems,
  listenersOf,
  requireAddress,
  requireDescriptors,
} from "./preflight.ts";
import { type Reloadable, Reloader, SERVING } from "./reload.ts";
import { ServiceManager } from "./service_manager.ts";
import { readSettings, settingsEnvironment, type SettingsOptions } from "./settings.ts";
import { explainStart } from "./start_errors.ts";
import { printWelcome } from "./welcome.ts";

/** `muster serve`: runs everything until a signal ends it. */
export async function serve(options: SettingsOptions): Promise<void> {
  const config = await readSettings(options);
  restrictNewFiles();
  giveUpShell();
  silenceDeprecations();
  const log = new Logging(config.log);
  new UncaughtErrors(log, systemScheduler).listen();
  const ended = untilSignal(log);
  using manager = new ServiceManager(Deno.env.toObject(), log);
  // A SIGHUP during the start would end the process, so it waits for the end of the start.
  const started = Promise.withResolvers<Reloader>();
  for (const signal of reloadSignals()) {
    Deno.addSignalListener(signal, async () => (await started.promise).reload());
  }
  try {
    using acme = await openAcme(config, log);
    const certificate = await readCertificate(config);
    const server = await start(config, certificate, log, () => startExamination(options));
    const read = () => readSettings(options);
    const reloader = new Reloader({ config, certificate, server, read, manager, log });
    started.resolve(reloader);
    manager.ready(SERVING);
    acme?.start(() => reloader.reload());
    await ended;
    manager.stopping();
    await reloader.stop();
    await server.stop();
    log.info("Stopped");
  } catch (error) {
    throw explainStart(error, config);
  } finally {
    await log.flush();
  }
}

/**
 * Checks that no other process uses the data folder.
 *
 * @throws DataFolderError, CommandFailed
 */
async function requireFree(folder: string): Promise<void> {
  try {
    DataFolder.check(folder);
  } catch (error) {
    // A server writes its addresses; `muster mcp` without a server removes them.
    const isInUse = error instanceof DataFolderError && error.isInUse;
    if (!isInUse || await readEndpoints(folder) !== null) throw error;
    throw new CommandFailed(
      `${error.message}. If that is "muster mcp", end the client that started it`,
    );
  }
}

/** Opens the certificate of `tls.acme`; null if the configuration has no such. */
async function openAcme(config: Config, log: Log): Promise<AcmeCertificate | null> {
  if (config.tls.acme.domains.length === 0) return null;
  await requireFree(config.data_dir);
  const { AcmeCertificate } = await import("../services/operation/acme/mod.ts");
  return await AcmeCertificate.open({ config, log, scheduler: systemScheduler });
}

interface RunningServer extends Reloadable {
  stop(): Promise<void>;
}

async function start(
  config: Config,
  certificate: Certificate | null,
  log: Logging,
  examine: StartExamination,
): Promise<RunningServer> {
  requireDescriptors();
  requireAuthorities();
  await requireFree(config.data_dir);
  const [problem] = findListenProblems(listenersOf(config));
  if (problem !== undefined) throw new CommandFailed(problem.message, problem.exitCode);
  for (const { message, key } of findClearText(config)) log.warn(message, { key });

  const trusted = new TrustedProxies(config.trusted_proxies);
  const { serve, isOwn } = await chooseServeConnection();
  if (!isOwn) log.warn(WITHOUT_SERVER, { deno: Deno.version.deno });
  const connections = new Connections(config, log, serve);
  const daemon = await startDaemon({
    config,
    http: connections.http,
    onExhausted: connections.exhausted,
    log,
    logThreshold: log,
    certificate,
    pinnedToken: Deno.env.get("MUSTER_API_TOKEN") ?? null,
    clientAddress: (socket, header) => trusted.clientOf(socket, header),
    foreignHost: (listens) => {
      const hosts = new Hosts(config, listens);
      return (request, socket) => hosts.refusal(request, socket) !== null;
    },
    startExamination: examine,
    startsProcesses: true,
  });
  connections.shareWith(daemon.services.hosting.repositories.files);
  const { api, mcp, irc } = await listen(config, certificate, connections, daemon);
  const firstAdmin = await makeFirstAdmin(daemon.services.admins, log);
  await daemon.ready();
  const { services } = daemon;
  const addresses = { api: api.address, mcp: mcp.address, irc };
  const runner = await startOwnRunner(config, api.address, services);
  await announce({ config, services, firstAdmin, addresses }, log);
  inBackground(log, "remove the sockets of killed servers", removeLeftSockets);
  const settling = setTimeout(
    () => inBackground(log, "write what the start has left", () => daemon.settle()),
    SETTLE_AFTER,
  );
  return {
    apply: (changed, renewed) => {
      log.reconfigure(changed.log);
      daemon.reconfigure(changed, renewed);
      connections.reconfigure(changed);
      if (renewed === null) return;
      for (const server of [api, mcp]) server.renewCertificate(renewed);
    },
    stop: async () => {
      clearTimeout(settling);
      await runner?.stop();
      services.nodeLinks?.notes.close();
      const stopped = [api.stop(), mcp.stop()];
      await daemon.quiesce();
      await Promise.all(stopped);
      await daemon.stop();
      connections[Symbol.dispose]();
    },
  };
}

/** Pause before the start's waits for the disk, so that those who wait for it are answered first. */
const SETTLE_AFTER = 100;

/** Pause before the work that the start itself does not need, in milliseconds. */
const PREPARE_AFTER = 1000;

/** How often to look for a moment in which nobody would wait, in milliseconds. */
const LOOK_EVERY = 1000;

/** How much the program computes at most in a second in which it does nothing for anybody, in microseconds. */
const QUIET_US = 10_000;

/**
 * Gives back the memory of the start once nobody would wait for that: when nobody is connected, or
 * those who are want nothing. A team that was connected before a restart comes back at once and stays.
 */
function releaseUnused(connections: Connections): void {
  if (connections.open === 0) return releaseStartMemory();
  const before = cpuUsage();
  const look = () => {
    const { user, system } = cpuUsage(before);
    if (user + system < QUIET_US) return releaseStartMemory();
    releaseUnused(connections);
  };
  Deno.unrefTimer(setTimeout(look, LOOK_EVERY));
}

/** The listeners. */
interface Listening {
  readonly api: HttpServer;
  readonly mcp: HttpServer;
  readonly irc: IrcAddresses;
}

/** Opens the ports of IRC, the API and MCP. If one cannot be opened, stops the daemon. */
async function listen(
  config: Config,
  certificate: Certificate | null,
  connections: Connections,
  { services, ircListeners, stop }: Daemon,
): Promise<Listening> {
  const { http } = connections;
  const served = new ServedApi(services, async (core) => {
    const { mountPages } = await import("../web/mod.ts");
    mountPages(core, { services, projectApi, streams: core.streams });
  });
  const { projects: projectApi } = served;
  services.metricHistory.start();
  const forwarding = openForwarding(services);
  const tools = { ...services, all: services, projectApi, forwarding };
  const toolServer = new LateMcp(tools, config.mcp_addr);
  const toolsOfApi = new LateMcp(tools, config.api_addr);
  const doors = openDoors(services, forwarding);
  setTimeout(() =>
    inBackground(services.log, "load what the start did not need", async () => {
      await prepareForAgents(services, () => toolServer.prepare());
      await served.prepare();
      releaseUnused(connections);
    }), PREPARE_AFTER);
  try {
    return {
      irc: connections.listenIrc(ircListeners),
      api: http.listen(
        requireAddress(config.api_addr),
        certificate,
        doors.api((request, { address, trust }, arrival) =>
          isMcp(request)
            ? toolsOfApi.handle(request, address, trust, arrival)
            : served.fetch(request, { remoteAddress: address, trust, ...arrival })
        ),
      ),
      mcp: http.listen(
        requireAddress(config.mcp_addr),
        certificate,
        doors.mcp((request, { address, trust }, arrival) =>
          toolServer.handle(request, address, trust, arrival)
        ),
      ),
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A handler of arrivals as a handler of requests. */
type Door = (handler: ArrivalHandler) => HttpHandler;

/**
 * Lets requests arrive at the handlers of the API and of MCP, or forwards them. MCP forwards calls
 * alone, so that its port opens nothing else of other nodes.
 */
function openDoors(
  services: Services,
  forwarding: Forwarding | undefined,
): Readonly<Record<"api" | "mcp", Door>> {
  if (forwarding === undefined) {
    const door: Door = (handler) => (request, connection) =>
      handler(request, connection, undefined);
    return { api: door, mcp: door };
  }
  const { config } = services;
  const internal = once(async () => {
    const { InternalRequests } = await import("../routes/internal/internal_requests.ts");
    return new InternalRequests(services);
  });
  return {
    api: (handler) =>
      forwarding.around((request, connection, arrival) => {
        const { mark } = arrival ?? { mark: null };
        return mark?.kind === "internal"
          ? internal().then((requests) => requests.answer(request, mark.from))
          : handler(request, connection, arrival);
      }, new Hosts(config, config.api_addr)),
    mcp: (handler) => forwarding.around(handler, new Hosts(config, config.mcp_addr), []),
  };
}

/** What decides which node answers a request; undefined if this server is alone. */
function openForwarding(services: Services): Forwarding | undefined {
  const { config, hosting, nodeLinks, nodes } = services;
  if (nodeLinks === null) return undefined;
  const { projects, leases, repositories: { homes } } = hosting;
  return new Forwarding({
    ...nodeLinks,
    nodes,
    bodies: new BodyReader(bodyLimitsOf(config)),
    callers: new Callers(services),
    proxies: new TrustedProxies(config.trusted_proxies),
    placements: [
      new LeaderPlacement({ nodes, pages: LEADER_PAGES }),
      new ProjectPlacement({ projects, homes }),
      new JobPlacement({ leases, homes }),
    ],
  });
}

/** Whether a request to the API is for the tools, which are also there, so that one URL is enough. */
function isMcp({ url }: Request): boolean {
  const mayBe = url.endsWith("/mcp") || url.endsWith("/mcp/");
  return mayBe && /^https?:\/\/[^/]+\/mcp\/?$/.test(url);
}

/** Creates the first admin at the first start; null at later ones. */
async function makeFirstAdmin(admins: Admins | null, log: Log): Promise<FirstAdmin | null> {
  try {
    return await admins?.createFirst() ?? null;
  } catch (error) {
    if (!(error instanceof Conflict || error instanceof Unavailable)) throw error;
    log.warn("The first admin could not be created", { reason: error.message });
    return null;
  }
}

interface Started {
  readonly config: Config;
  readonly services: Services;
  readonly firstAdmin: FirstAdmin | null;
  readonly addresses: {
    readonly api: Address;
    readonly mcp: Address;
    readonly irc: IrcAddresses;
  };
}

async function announce(
  { config, services, firstAdmin, addresses: { api, mcp, irc } }: Started,
  log: Log,
): Promise<void> {
  const { plain, tls, webSocket, webSocketTls } = irc;
  const addresses = {
    api: formatAddress(api),
    mcp: formatAddress(mcp),
    ...(plain === null ? {} : { irc: formatAddress(plain) }),
    ...(tls === null ? {} : { ircs: formatAddress(tls) }),
    ...(webSocket === null ? {} : { ircWebSocket: formatAddress(webSocket) }),
    ...(webSocketTls === null ? {} : { ircWebSocketTls: formatAddress(webSocketTls) }),
    ...(config.irc.mode === "external" ? { network: config.irc.addr } : {}),
  };
  const scheme = config.tls.cert === "" ? "http" : "https";
  const bound = {
    api,
    mcp,
    irc: plain,
    ircs: tls,
    ircWebSocket: webSocket,
    ircWebSocketTls: webSocketTls,
  };
  const pages = pagesAt(api, scheme, services.pagesHost);
  writeEndpoints(config.data_dir, bound, scheme, pages);
  log.info("Listening", { ...addresses, pages, version: VERSION, build: buildId() });
  if (Deno.stdout.isTerminal()) {
    const taken = await takenNames(services);
    const isFree = (name: string) => !taken.has(name.toLowerCase());
    printWelcome({ ...addresses, pages, scheme }, { config, firstAdmin, isFree });
  } else if (firstAdmin !== null) {
    log.info("The first admin was created; `muster admin passwd` sets its password", {
      username: firstAdmin.username,
    });
  }
}

/** The taken names, which are not suggested, in lower case. */
async function takenNames({ config, agents, ircAccounts, admins }: Services): Promise<Set<string>> {
  const isEmbedded = config.irc.mode === "embedded";
  const names = [
    config.bridge.nick,
    ...agents.list().map(({ nick }) => nick),
    ...isEmbedded ? (await ircAccounts.list()).map(({ account }) => account) : [],
    ...(await admins?.list() ?? []).map(({ username }) => username),
  ];
  return new Set(names.map((name) => name.toLowerCase()));
}

/** Resolves at the first signal to end; a second one ends the process at once. */
function untilSignal(log: Log): Promise<void> {
  return new Promise((resolve) => {
    let received = false;
    const stop = (signal: Deno.Signal) => {
      if (received) Deno.exit(1);
      received = true;
      log.info("Stopping", { signal });
      resolve();
    };
    for (const signal of endSignals()) {
      Deno.addSignalListener(signal, () => stop(signal));
    }
  });
}

/** Starts a runner beside the server, if the configuration wants one. */
async function startOwnRunner(
  config: Config,
  api: Address,
  { hosting: { runners }, log }: Services,
): Promise<OwnRunner | null> {
  if (!config.runner.enabled) return null;
  const { OwnRunner } = await import("./own_runner.ts");
  const { node: { name: node }, data_dir: folder, runner: { jobs, allow_unisolated } } = config;
  return new OwnRunner({
    url: urlOf("http", api),
    token: await runners.tokenOfOwn(node === "" ? "local" : `local-${node}`),
    folder,
    jobs,
    allowUnisolated: allow_unisolated,
    log,
  });
}

/** Only a runner, which is another process, may start a shell. */
function giveUpShell(): void {
  Deno.permissions.revokeSync({ name: "run", command: "/bin/sh" });
}

/** The niceness of the process: it gets what the server leaves over. */
const NICENESS = 10;

/** Most bytes of a report. */
const MAX_REPORT = 16 * 1024 * 1024;

/**
 * Starts this program again, as `muster doctor --quick --json` with the settings of this one.
 *
 * @throws {Deno.errors.NotCapable} This process may not start others.
 */
export function startExamination(options: SettingsOptions): ExaminationProcess {
  const { config } = options;
  const process = new Deno.Command(ownProgram(), {
    args: [
      ...programArguments(),
      ...["doctor", "check", "--quick", "--json"],
      ...config === undefined ? [] : ["--config", config],
    ],
    env: settingsEnvironment(options),
    stdin: "null",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  try {
    setPriority(process.pid, NICENESS);
  } catch {
    // Not permitted here, or it has ended.
  }
  const kill = () => {
    try {
      process.kill("SIGKILL");
    } catch {
      // It has ended already.
    }
  };
  return { output: reportOf(process, kill), kill };
}

/** What the process prints until it ends; nothing if that is too much. */
async function reportOf({ stdout, status }: Deno.ChildProcess, kill: () => void): Promise<string> {
  let text = "";
  for await (const part of stdout.pipeThrough(new TextDecoderStream())) {
    text += part;
    if (text.length <= MAX_REPORT) continue;
    kill();
    text = "";
    break;
  }
  await status;
  return text;
}
