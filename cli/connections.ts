import {
  type Certificate,
  type ConnectionLimits,
  HttpConnections,
  type HttpHandler,
  HttpServer,
  type ServeConnection,
  TrustedProxies,
} from "../http/mod.ts";
import {
  type Address,
  type Config,
  explainListenError,
  urlOf,
} from "../services/operation/config/mod.ts";
import {
  type IrcAddresses,
  ircChanges,
  type IrcListeners,
  NO_IRC_ADDRESSES,
} from "../services/operation/daemon/mod.ts";
import { type IrcServer, isLoopback } from "../services/engines/irc/mod.ts";
import type { Log } from "../services/kernel/log.ts";
import type { HttpStats } from "../services/operation/metrics/mod.ts";
import { CommandFailed } from "./output.ts";

/** Closes repositories when descriptors run out. */
interface OpenRepositories {
  openFewer(): void;
}

/** The HTTP and IRC connections of the program, within its limit of descriptors. */
export class Connections implements Disposable {
  readonly http: HttpServers;
  readonly #descriptors: Descriptors;
  #config: Config;
  /** The IRC server of this program, once it listens. */
  #irc: IrcServer | null = null;
  /** The repositories of this program, once it runs; they use descriptors too. */
  #repositories: OpenRepositories | null = null;

  /** @param serve serves each HTTP connection */
  constructor(config: Config, log: Log, serve: ServeConnection) {
    this.#config = config;
    this.#descriptors = new Descriptors(log);
    this.http = new HttpServers(config, log, { serve, onExhausted: this.exhausted });
  }

  /**
   * Opens the ports of IRC, and counts its connections from then on.
   *
   * @param listeners null if the IRC server is not part of this program
   * @throws StartError if it cannot listen on an address
   */
  listenIrc(listeners: IrcListeners | null): IrcAddresses {
    if (listeners === null) return NO_IRC_ADDRESSES;
    this.#irc = listeners.server;
    return listeners.open();
  }

  /** Has these repositories share the descriptors with the connections. */
  shareWith(repositories: OpenRepositories): void {
    this.#repositories = repositories;
  }

  /** The number of open connections from outside this process. */
  get open(): number {
    return this.http.open + countOpen(this.#irc);
  }

  /** Frees descriptors after a connection could not be accepted for lack of them. */
  readonly exhausted = (): void => {
    this.#descriptors.exhausted(this.#config, {
      open: () => ({ http: this.http.open, irc: countOpen(this.#irc) }),
      lower: (fitted) => {
        this.#bound(fitted);
        this.http.guard();
        this.#irc?.guard();
        this.#repositories?.openFewer();
      },
    });
  };

  /**
   * Applies the bounds of another configuration, within the limit of descriptors that is known to
   * fit.
   */
  reconfigure(config: Config): void {
    this.#config = config;
    this.#bound(this.#descriptors.fit(config));
  }

  [Symbol.dispose](): void {
    this.#descriptors[Symbol.dispose]();
  }

  #bound(fitted: Config): void {
    this.http.reconfigure(fitted);
    this.#irc?.reconfigure(ircChanges(fitted));
  }
}

/** Clients inside this process, such as the bridge, have no socket. */
function countOpen(irc: IrcServer | null): number {
  if (irc === null) return 0;
  const { clients, handshakes, transports } = irc.stats();
  return clients - (transports.get("internal") ?? 0) + handshakes;
}

/** The file descriptors of the process. Every connection uses one. */

/** Descriptors reserved for databases, logs and outgoing connections. */
const RESERVED = 32;

/** When descriptors run out, the bound on connections falls to this part of those that are open. */
const KEPT_PART = 0.75;

/** Minimum bounds of HTTP and IRC connections. */
const LEAST = 16;

/** Pause before the reserve is filled again, in milliseconds. */
const REFILL_MILLISECONDS = 1000;

/** Descriptors per relayed IRC client: its own, and both ends of the inner connection. */
const RELAYED = 3;

/** Takes lower bounds when descriptors run out. */
export interface Bounded {
  /** The numbers of open connections, of HTTP and of IRC. */
  open(): { readonly http: number; readonly irc: number };
  /** Applies lower bounds, and closes strangers' connections beyond them. */
  lower(config: Config): void;
}

/**
 * Keeps the connections below the process's limit on open files. The runtime raises this limit to
 * the hard limit at the start, and reports it only to programs with all permissions, so muster
 * finds it by hitting it. Then it releases the reserve, lowers the bounds on connections
 * permanently to three quarters of the open ones, and closes surplus strangers.
 */
export class Descriptors {
  readonly #log: Log;
  readonly #reserve: Deno.FsFile[] = [];
  #most = Infinity;
  #refill: ReturnType<typeof setTimeout> | undefined;

  constructor(log: Log) {
    this.#log = log;
    this.#fillReserve();
  }

  /**
   * The configuration, with bounds on connections that are known to fit: half for HTTP, half for
   * IRC.
   */
  fit(config: Config): Config {
    const { irc, limits } = config;
    const half = Math.max(LEAST, Math.floor(this.#most / 2));
    const perClient = isRelayed(config) ? RELAYED : 1;
    const forIrc = Math.max(LEAST, Math.floor(half / perClient));
    return {
      ...config,
      limits: { ...limits, connections: Math.min(limits.connections, half) },
      irc: {
        ...irc,
        limits: { ...irc.limits, connections: Math.min(irc.limits.connections, forIrc) },
      },
    };
  }

  /** Frees descriptors after a connection could not be accepted for lack of them. */
  exhausted(config: Config, bounded: Bounded): void {
    if (this.#refill !== undefined) return;
    this.#refill = setTimeout(() => this.#fillReserve(), REFILL_MILLISECONDS);
    this.#releaseReserve();
    const { http, irc } = bounded.open();
    const most = Math.floor((http + irc) * KEPT_PART);
    if (most >= this.#most) return;
    this.#most = most;
    const fitted = this.fit(config);
    bounded.lower(fitted);
    this.#log.warn("The limit on open files is reached; accepting fewer connections from now on", {
      http,
      irc,
      "limits.connections": fitted.limits.connections,
      "irc.limits.connections": fitted.irc.limits.connections,
    });
  }

  /** Closes the reserve. */
  [Symbol.dispose](): void {
    clearTimeout(this.#refill);
    this.#releaseReserve();
  }

  #fillReserve(): void {
    this.#refill = undefined;
    try {
      while (this.#reserve.length < RESERVED) this.#reserve.push(Deno.openSync("/dev/null"));
    } catch {
      // No descriptor is left, or this system has no such file: the reserve stays smaller.
    }
  }

  #releaseReserve(): void {
    for (const file of this.#reserve.splice(0)) file.close();
  }
}

function isRelayed({ irc }: Config): boolean {
  return [irc.websocket_listen, irc.websocket_tls_listen, ...irc.proxy_protocol_from]
    .some((text) => text !== "");
}

interface HttpServersOptions {
  /** Serves each connection. */
  readonly serve: ServeConnection;
  /** Called when there are no file descriptors for more connections. */
  readonly onExhausted: () => void;
}

/** Opens HTTP servers, whose connections share their bounds. */
class HttpServers {
  readonly #log: Log;
  readonly #connections: HttpConnections;
  readonly #serve: ServeConnection;
  readonly #servers: HttpServer[] = [];

  constructor(config: Config, log: Log, options: HttpServersOptions) {
    const { serve, onExhausted } = options;
    this.#serve = serve;
    const proxies = new TrustedProxies(config.trusted_proxies);
    this.#log = log;
    this.#connections = new HttpConnections({
      limits: connectionLimits(config),
      isExempt: (address) => isLoopback(address) || proxies.includes(address),
      onExhausted,
      log,
    });
  }

  stats(): HttpStats {
    return this.#connections.stats();
  }

  /** The number of open connections, including TLS handshakes. */
  get open(): number {
    const handshakes = this.#servers.reduce((sum, server) => sum + server.handshakes, 0);
    return this.stats().connections + handshakes;
  }

  /** Like {@linkcode HttpServer.guard}, on every server. */
  guard(): void {
    for (const server of this.#servers) server.guard();
  }

  /**
   * Listens.
   *
   * @throws CommandFailed if it cannot, for instance because another program has just taken the
   * address
   */
  listen(address: Address, certificate: Certificate | null, handler: HttpHandler): HttpServer {
    const [connections, log, serve] = [this.#connections, this.#log, this.#serve];
    try {
      const server = new HttpServer({ address, certificate, handler, serve, connections, log });
      this.#servers.push(server);
      return server;
    } catch (error) {
      throw new CommandFailed(explainListenError(address, error));
    }
  }

  /** Applies the bounds of another configuration. */
  reconfigure(config: Config): void {
    this.#connections.reconfigure(connectionLimits(config));
  }
}

function connectionLimits({ limits }: Config): ConnectionLimits {
  return {
    total: limits.connections,
    perAddress: limits.connections_per_address || null,
    headerMilliseconds: limits.header_seconds * 1000,
    idleMilliseconds: limits.idle_seconds * 1000,
    answerMilliseconds: limits.answer_seconds * 1000,
  };
}

/**
 * The address of the web pages: on their own host, if they listen where a browser on this machine
 * comes by a name that other programs share.
 */
export function pagesAt(api: Address, scheme: "http" | "https", pagesHost: string | null): string {
  const { hostname, port } = new URL(urlOf(scheme, api));
  const isShared = pagesHost !== null && isLoopback(hostname.replace(/^\[(.*)\]$/, "$1"));
  if (!isShared) return `${urlOf(scheme, api)}/`;
  return `${scheme}://${pagesHost}${port === "" ? "" : `:${port}`}/`;
}
