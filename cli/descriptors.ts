/** The file descriptors of the process. Every connection uses one. */

import type { Config } from "../services/config/mod.ts";
import type { Log } from "../services/log.ts";

/** Descriptors that are kept for databases, logs and outgoing connections. */
const RESERVED = 32;

/** The share of the connections open when descriptors ran out that may be open later. */
const KEPT_PART = 0.75;

/** Minimum bounds of HTTP and IRC connections. */
const LEAST = 16;

/** How long after that the reserve is filled again, in milliseconds. */
const REFILL_MILLISECONDS = 1000;

/** Descriptors per relayed IRC client: its own, and both ends of the inner connection. */
const RELAYED = 3;

/** Takes lower bounds when descriptors run out. */
export interface Bounded {
  /** Connections that are open, of HTTP and of IRC. */
  open(): { readonly http: number; readonly irc: number };
  /** Takes lower bounds, and closes strangers' connections beyond them. */
  lower(config: Config): void;
}

/**
 * Keeps the connections below the process's limit on open files. The runtime raises this limit to
 * the hard limit at the start, and does not report it without every permission, so it is only found
 * by hitting it. Then the reserve is released, the bounds on connections are lowered permanently to
 * three quarters of what was open, and surplus strangers are closed.
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

  /** The configuration with bounds on connections that are known to fit, half for HTTP and IRC each. */
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

  /** Makes room after a connection could not be accepted because descriptors ran out. */
  exhausted(config: Config, bounded: Bounded): void {
    if (this.#refill !== undefined) return;
    this.#refill = setTimeout(() => this.#fillReserve(), REFILL_MILLISECONDS);
    this.#releaseReserve();
    const { http, irc } = bounded.open();
    this.#most = Math.min(this.#most, Math.floor((http + irc) * KEPT_PART));
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
      // None is left, or this system has no such file; the reserve stays smaller.
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
