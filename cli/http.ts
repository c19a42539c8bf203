/** The HTTP servers of the program, and the bounds of their connections. */

import {
  type Certificate,
  type ConnectionLimits,
  HttpConnections,
  type HttpHandler,
  HttpServer,
  TrustedProxies,
} from "../http/mod.ts";
import { type Address, type Config, explainListenError, urlOf } from "../services/config/mod.ts";
import { CommandFailed } from "./output.ts";
import { isLoopback } from "../services/irc/mod.ts";
import type { Log } from "../services/log.ts";
import type { HttpStats } from "../services/metrics/mod.ts";

/** Opens HTTP servers, whose connections share their bounds. */
export class HttpServers {
  readonly #log: Log;
  readonly #connections: HttpConnections;
  readonly #servers: HttpServer[] = [];

  /** @param onExhausted is called when there are no file descriptors for more connections */
  constructor(config: Config, log: Log, onExhausted: () => void) {
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
    const [connections, log] = [this.#connections, this.#log];
    try {
      const server = new HttpServer({ address, certificate, handler, connections, log });
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
