/** The file descriptors of the process. Every connection uses one. */

import type { Config } from "../services/config/mod.ts";
import type { Log } from "../services/log.ts";

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
