import { type Certificate, HttpServer, TrustedProxies } from "../http/mod.ts";
import { readCertificate } from "./certificate.ts";
import { startLogging, stopLogging } from "./logging.ts";
import { CommandFailed } from "./output.ts";
import { writeEndpoints } from "./endpoints.ts";
import { type Reloadable, Reloader } from "./reload.ts";
import { readSettings, type SettingsOptions } from "./settings.ts";
import { printWelcome } from "./welcome.ts";
import { createMcpHandler } from "../mcp/mod.ts";
import { createApp } from "../routes/app.ts";
import { type Address, type Config, formatAddress, parseAddress } from "../services/config/mod.ts";
import { type Daemon, startDaemon, StartError } from "../services/daemon/mod.ts";
import { DatabaseError } from "../services/database/mod.ts";
import { DataFolder, DataFolderError } from "../services/data_folder.ts";
import { Conflict, Unavailable } from "../services/errors.ts";
import type { Admins, FirstAdmin } from "../services/admins/mod.ts";
import { SecretFileError } from "../services/identity/mod.ts";
import { isLoopback } from "../services/irc/mod.ts";
import type { Log } from "../services/log.ts";

/** `muster serve`: runs everything until a signal ends it. */
export async function serve(options: SettingsOptions): Promise<void> {
  const config = await readSettings(options);
  Deno.umask(0o077);
  const log = await startLogging(config.log);
  const ended = untilSignal(log);
  try {
    const certificate = await readCertificate(config);
    const server = await start(config, certificate, log);
    const read = () => readSettings(options);
    const reloader = new Reloader({ config, certificate, server, read, log });
    Deno.addSignalListener("SIGHUP", () => reloader.reload());
    await ended;
    await reloader.stop();
    await server.stop();
    log.info("Stopped");
  } catch (error) {
    throw explain(error);
  } finally {
    await stopLogging();
  }
}

interface RunningServer extends Reloadable {
  stop(): Promise<void>;
}

async function start(
  config: Config,
  certificate: Certificate | null,
  log: Log,
): Promise<RunningServer> {
  DataFolder.check(config.data_dir);
  for (const address of listenAddresses(config)) assertFree(address);
  warnWherePublic(config, log);

  const trusted = new TrustedProxies(config.trusted_proxies);
  const daemon = await startDaemon({
    config,
    log,
    certificate,
    pinnedToken: Deno.env.get("MUSTER_API_TOKEN") ?? null,
    clientAddress: (socket, header) => trusted.clientOf(socket, header),
  });
  const app = createApp(daemon.services);
  const api = new HttpServer({
    address: requireAddress(config.api_addr),
    handler: (request, remoteAddress) => app.fetch(request, { remoteAddress }),
    certificate,
    log,
  });
  const mcp = new HttpServer({
    address: requireAddress(config.mcp_addr),
    handler: createMcpHandler(daemon.services),
    certificate,
    log,
  });
  const firstAdmin = await makeFirstAdmin(daemon.services.admins, log);
  announce({ config, daemon, firstAdmin, api: api.address, mcp: mcp.address }, log);
  return {
    apply: async (changed, renewed) => {
      await startLogging(changed.log);
      daemon.reconfigure(changed, renewed);
      if (renewed === null) return;
      for (const server of [api, mcp]) server.renewCertificate(renewed);
    },
    stop: async () => {
      const stopped = [api.stop(), mcp.stop()];
      await daemon.quiesce();
      await Promise.all(stopped);
      await daemon.stop();
    },
  };
}

/** Makes the admin of a first start; null at every later one. */
async function makeFirstAdmin(admins: Admins | null, log: Log): Promise<FirstAdmin | null> {
  try {
    return await admins?.createFirst() ?? null;
  } catch (error) {
    if (!(error instanceof Conflict || error instanceof Unavailable)) throw error;
    log.warn("The first admin could not be made", { reason: error.message });
    return null;
  }
}

interface Started {
  readonly config: Config;
  readonly daemon: Daemon;
  readonly firstAdmin: FirstAdmin | null;
  readonly api: Address;
  readonly mcp: Address;
}

function announce({ config, daemon, firstAdmin, api, mcp }: Started, log: Log): void {
  const { plain, tls, webSocket, webSocketTls } = daemon.ircAddresses;
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
    ...{ api, mcp, irc: plain, ircs: tls },
    ...{ ircWebSocket: webSocket, ircWebSocketTls: webSocketTls },
  };
  writeEndpoints(config.data_dir, bound, scheme);
  log.info("Listening", addresses);
  if (Deno.stdout.isTerminal()) {
    printWelcome({ ...addresses, scheme }, config, firstAdmin);
  } else if (firstAdmin !== null) {
    log.info("The first admin is made; `muster admin passwd` sets its password", {
      username: firstAdmin.username,
    });
  }
}

/** Resolves at the first SIGTERM or SIGINT; a second one ends the process at once. */
function untilSignal(log: Log): Promise<void> {
  return new Promise((resolve) => {
    let received = false;
    const stop = (signal: Deno.Signal) => {
      if (received) Deno.exit(1);
      received = true;
      log.info("Stopping", { signal });
      resolve();
    };
    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      Deno.addSignalListener(signal, () => stop(signal));
    }
  });
}

/** Turns what a start can fail on into one sentence. */
function explain(error: unknown): unknown {
  const known = error instanceof StartError || error instanceof DatabaseError ||
    error instanceof DataFolderError || error instanceof SecretFileError;
  return known ? new CommandFailed(error.message) : error;
}

function requireAddress(text: string): Address {
  const address = parseAddress(text);
  if (address === null) throw new CommandFailed(`"${text}" is not an address`, 2);
  return address;
}

function listenAddresses({ api_addr, mcp_addr, irc }: Config): Address[] {
  const forIrc = [
    ...[irc.listen, irc.tls_listen],
    ...[irc.websocket_listen, irc.websocket_tls_listen],
  ];
  return [api_addr, mcp_addr, ...(irc.mode === "embedded" ? forIrc : [])]
    .filter((text) => text !== "")
    .map(requireAddress);
}

/** Finds out before anything is touched whether an address can be listened on. */
function assertFree(address: Address): void {
  try {
    Deno.listen(address).close();
  } catch (error) {
    const where = formatAddress(address);
    if (error instanceof Deno.errors.AddrInUse) {
      throw new CommandFailed(`The address ${where} is in use by another program`);
    }
    if (error instanceof Deno.errors.PermissionDenied) {
      throw new CommandFailed(`Listening on ${where} needs more rights than this user has`);
    }
    throw new CommandFailed(`This machine cannot listen on ${where}`);
  }
}

function warnWherePublic(config: Config, log: Log): void {
  const { tls, trusted_proxies, api_addr, irc } = config;
  if (irc.mode === "external") warnWhereNetworkIsPlain(config, log);
  if (tls.cert !== "" || trusted_proxies.length > 0) return;
  const open = [
    ["api_addr", api_addr],
    ["irc.listen", irc.mode === "embedded" ? irc.listen : ""],
    ["irc.websocket_listen", irc.mode === "embedded" ? irc.websocket_listen : ""],
  ] as const;
  for (const [key, text] of open) {
    if (text !== "" && !isLoopback(requireAddress(text).hostname)) {
      log.warn("Passwords and tokens travel in the clear: no TLS, no trusted proxy", { key });
    }
  }
}

function warnWhereNetworkIsPlain({ irc: { addr, tls, ergo } }: Config, log: Log): void {
  const roads = [
    ["irc.addr", tls.enabled ? null : addr],
    ["irc.ergo.api_addr", ergo.api_addr.replace(/^http:\/\/|\/$/g, "")],
  ] as const;
  for (const [key, text] of roads) {
    const hostname = parseAddress(text ?? "")?.hostname;
    if (hostname === undefined || hostname === "localhost" || isLoopback(hostname)) continue;
    log.warn("Passwords travel to the IRC network in the clear: no TLS", { key });
  }
}
