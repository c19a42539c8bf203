import {
  holderOf,
  isOverseer,
  type Principal,
  quotaFor,
  shareOfOne,
} from "../services/people/identity/mod.ts";
import { AcceptFailures, addressNetwork } from "../services/engines/irc/mod.ts";
import type { Log } from "../services/kernel/log.ts";
import type { HttpStats } from "../services/operation/metrics/mod.ts";
import { everyMultiple } from "../services/kernel/scheduler.ts";
import { HttpConnection, type StrangerRequests } from "./connection.ts";

/** The share of connections that may be TLS handshakes, and its minimum. */
const HANDSHAKE_PART = 1 / 8;
const LEAST_HANDSHAKES = 16;

/**
 * Most requests of strangers at one address that are answered at a time, for each connection that it
 * may have. HTTP/2 carries hundreds on each, and a page takes some thirty at once.
 */
const REQUESTS_PER_CONNECTION = 4;

/** Most addresses of other nodes that are remembered. */
const MAX_NODES = 256;

/** How often connections are checked for deadlines, in milliseconds. */
const SWEEP_MILLISECONDS = 1000;

/** The bounds of all HTTP connections together. */
export interface ConnectionLimits {
  /** Most concurrent connections. */
  readonly total: number;
  /** Most concurrent connections from one address without a valid credential; null for no bound. */
  readonly perAddress: number | null;
  /** For a TLS handshake; then, to the end of the first request's headers. */
  readonly headerMilliseconds: number;
  /** From an answer to the headers of the next request. */
  readonly idleMilliseconds: number;
  /** Between two parts of an answer that a client takes. */
  readonly answerMilliseconds: number;
}

/** Why a connection was closed or refused. */
export type ClosedBecause = "full" | "address" | "headers" | "idle" | "unread";

export interface HttpConnectionsOptions {
  readonly limits: ConnectionLimits;
  /** Whether an address may have any number of connections: a proxy, or this machine's own. */
  readonly isExempt: (address: string) => boolean;
  /** Is told when there are no file descriptors for more connections. */
  readonly onExhausted: () => void;
  readonly log: Log;
}

/**
 * The HTTP connections of all listeners, within their bounds.
 *
 * A connection is a stranger until one of its requests has shown a valid credential. At the limit,
 * the oldest stranger on the port with the most strangers makes room for a new connection, which
 * may be about to authenticate. Authenticated connections are never closed for this, up to a quarter
 * of all for one caller and seven eighths for all callers; beyond that only those of the operator and
 * of admins. So a crowd of strangers displaces only itself, a burst on one port does not displace
 * newcomers on another, and the operator always comes in.
 */
export class HttpConnections {
  /** Counts the servers' failures to accept. */
  readonly failures: AcceptFailures;

  readonly #closed: Record<ClosedBecause, number> = {
    full: 0,
    address: 0,
    headers: 0,
    idle: 0,
    unread: 0,
  };

  readonly #isExempt: (address: string) => boolean;
  readonly #open = new Set<HttpConnection>();
  /** Those that are kept though they belong neither to the operator nor to an admin: whose. */
  readonly #keptOfOthers = new Map<HttpConnection, string>();
  /** How many of them each caller has. */
  readonly #keptBy = new Map<string, number>();
  /** The strangers, the oldest first, by port and by network. */
  readonly #strangersAt = new Map<number, Set<HttpConnection>>();
  readonly #strangersOf = new Map<string, Set<HttpConnection>>();
  /** The requests of strangers, by the network of their open connections. */
  readonly #requestsOf = new Map<string, NetworkRequests>();
  /** Addresses of other nodes. */
  readonly #nodes = new Set<string>();
  /** Shared by all connections, so that a request need not read the clock. */
  readonly #clock = { now: performance.now() };
  #limits: ConnectionLimits;
  /** Ends the checks; null while there is nothing to check. */
  #stopSweeping: (() => void) | null = null;

  constructor(options: HttpConnectionsOptions) {
    const { limits, isExempt } = options;
    this.failures = new AcceptFailures(options);
    this.#limits = limits;
    this.#isExempt = isExempt;
  }

  /** The current bounds. */
  get limits(): ConnectionLimits {
    return this.#limits;
  }

  /** Most concurrent TLS handshakes on one port, once its relay can end them. */
  get mostHandshakes(): number {
    return Math.max(LEAST_HANDSHAKES, Math.floor(this.#limits.total * HANDSHAKE_PART));
  }

  /** The number of open connections, and of closed ones since the start, by reason. */
  stats(): HttpStats {
    const { count: acceptFailures } = this.failures;
    return { connections: this.#open.size, closed: { ...this.#closed }, acceptFailures };
  }

  /** Changes the bounds. Closes surplus strangers; the deadlines apply from now on. */
  reconfigure(limits: ConnectionLimits): void {
    this.#limits = limits;
    while (this.#open.size > limits.total && this.#closeStranger(null));
    if (this.#stopSweeping === null) return;
    this.#stopSweeping();
    this.#stopSweeping = this.#startSweeping();
  }

  /**
   * Adds a connection from an IP address to a port. Call {@linkcode leave} when it ends.
   *
   * @returns null if there is no room for it
   */
  enter(address: string, port: number): HttpConnection | null {
    if (this.#stopSweeping === null) {
      this.#clock.now = performance.now();
      this.#stopSweeping = this.#startSweeping();
    }
    const requests = this.#isExempt(address) ? null : this.#requestsAt(address);
    const connection = new HttpConnection({
      address,
      port,
      requests,
      clock: this.#clock,
      onTrusted: this.#keep,
      onRelaying: this.#keepNode,
    });
    if (!this.#makeRoom(connection)) return null;
    this.#open.add(connection);
    if (requests !== null) this.#countConnection(connection.network, requests, 1);
    addTo(this.#strangersAt, port, connection);
    addTo(this.#strangersOf, connection.network, connection);
    return connection;
  }

  /** Records that a connection is closed. */
  leave(connection: HttpConnection): void {
    if (!this.#open.delete(connection)) return;
    const { network } = connection;
    const requests = this.#requestsOf.get(network);
    if (requests !== undefined) this.#countConnection(network, requests, -1);
    const holder = this.#keptOfOthers.get(connection);
    if (holder !== undefined) this.#countKept(holder, -1);
    this.#keptOfOthers.delete(connection);
    this.#forgetStranger(connection);
    if (this.#open.size > 0) return;
    this.#stopSweeping?.();
    this.#stopSweeping = null;
  }

  /** Closes the connection of a stranger whose address has too many requests. */
  closeCrowd(connection: HttpConnection): void {
    this.#close(connection, "address");
  }

  #requestsAt(address: string): NetworkRequests {
    const known = this.#requestsOf.get(addressNetwork(address));
    return known ?? new NetworkRequests(() => this.#limits.perAddress);
  }

  #countConnection(network: string, requests: NetworkRequests, change: 1 | -1): void {
    requests.connections += change;
    if (requests.connections === 0) this.#requestsOf.delete(network);
    else this.#requestsOf.set(network, requests);
  }

  #makeRoom({ address, network, port }: HttpConnection): boolean {
    const { total, perAddress } = this.#limits;
    const neighbours = this.#strangersOf.get(network);
    const most = perAddress ?? Infinity;
    const isBound = !this.#isExempt(address) && !this.#nodes.has(address);
    if (neighbours !== undefined && neighbours.size >= most && isBound) {
      this.#closeFirst(neighbours, "address");
    }
    if (this.#open.size < total || this.#closeStranger(port)) return true;
    this.#closed.full++;
    return false;
  }

  /**
   * Closes the oldest stranger on the port with the most strangers; of several such ports, on the
   * given one.
   */
  #closeStranger(port: number | null): boolean {
    let most = (port === null ? null : this.#strangersAt.get(port)) ?? new Set<HttpConnection>();
    for (const strangers of this.#strangersAt.values()) {
      if (strangers.size > most.size) most = strangers;
    }
    return this.#closeFirst(most, "full");
  }

  #closeFirst(connections: Iterable<HttpConnection>, why: ClosedBecause): boolean {
    for (const oldest of connections) {
      this.#close(oldest, why);
      return true;
    }
    return false;
  }

  #close(connection: HttpConnection, why: ClosedBecause): void {
    this.#closed[why]++;
    this.leave(connection);
    connection.cut();
  }

  /** Keeps an authenticated connection, as far as there is room. */
  readonly #keep = (connection: HttpConnection, principal: Principal): boolean => {
    if (!isOverseer(principal)) {
      const { total } = this.#limits;
      const holder = holderOf({ principal, address: connection.address }) ?? "";
      if (this.#keptOfOthers.size >= quotaFor(principal, total)) return false;
      if ((this.#keptBy.get(holder) ?? 0) >= shareOfOne(total)) return false;
      this.#keptOfOthers.set(connection, holder);
      this.#countKept(holder, 1);
    }
    this.#forgetStranger(connection);
    return true;
  };

  /** Keeps a connection of another node. Its next ones may be many, and each is a stranger at first. */
  readonly #keepNode = (connection: HttpConnection): void => {
    const { address } = connection;
    this.#nodes.add(address);
    const [oldest = address] = this.#nodes;
    if (this.#nodes.size > MAX_NODES) this.#nodes.delete(oldest);
    this.#forgetStranger(connection);
  };

  #countKept(holder: string, change: 1 | -1): void {
    const count = (this.#keptBy.get(holder) ?? 0) + change;
    if (count === 0) this.#keptBy.delete(holder);
    else this.#keptBy.set(holder, count);
  }

  readonly #forgetStranger = (connection: HttpConnection): void => {
    removeFrom(this.#strangersAt, connection.port, connection);
    removeFrom(this.#strangersOf, connection.network, connection);
  };

  /** A deadline is exact to a quarter of its length or a second. */
  #startSweeping(): () => void {
    const { headerMilliseconds, idleMilliseconds, answerMilliseconds } = this.#limits;
    const shortest = Math.min(headerMilliseconds, idleMilliseconds, answerMilliseconds);
    return everyMultiple(Math.min(SWEEP_MILLISECONDS, shortest / 4), () => this.#sweep());
  }

  #sweep(): void {
    const now = performance.now();
    // Events since the last tick carry its time, and must not end early.
    const lag = now - this.#clock.now;
    this.#clock.now = now;
    for (const connection of this.#open) {
      const why = this.#lateness(connection, now - lag);
      if (why !== null) this.#close(connection, why);
    }
  }

  /** Which deadline a connection has missed; null if none. */
  #lateness(connection: HttpConnection, now: number): ClosedBecause | null {
    const { headerMilliseconds, idleMilliseconds, answerMilliseconds } = this.#limits;
    const { waits, served, waitsSince, wasLong, heldSince } = connection;
    if (heldSince !== null && now - heldSince > answerMilliseconds) return "unread";
    if (!waits) return null;
    if (!served) return now - waitsSince > headerMilliseconds ? "headers" : null;
    // The end of a long answer leaves this process after the runtime has called it sent.
    const most = wasLong ? Math.max(idleMilliseconds, answerMilliseconds) : idleMilliseconds;
    return now - waitsSince > most ? "idle" : null;
  }
}

/** The requests of strangers in a network. */
class NetworkRequests implements StrangerRequests {
  count = 0;
  /** The open connections of the network, kept ones too. */
  connections = 0;
  readonly #mostConnections: () => number | null;

  constructor(mostConnections: () => number | null) {
    this.#mostConnections = mostConnections;
  }

  get most(): number {
    return REQUESTS_PER_CONNECTION * (this.#mostConnections() ?? Infinity);
  }
}

function addTo<Key>(
  groups: Map<Key, Set<HttpConnection>>,
  key: Key,
  connection: HttpConnection,
): void {
  const group = groups.get(key);
  if (group === undefined) groups.set(key, new Set([connection]));
  else group.add(connection);
}

function removeFrom<Key>(
  groups: Map<Key, Set<HttpConnection>>,
  key: Key,
  connection: HttpConnection,
): void {
  const group = groups.get(key);
  if (group?.delete(connection) && group.size === 0) groups.delete(key);
}
