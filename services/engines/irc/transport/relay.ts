/** Listeners that forward the bytes of their clients to a listener of this process. */

import { acceptConnections, type AcceptFailures } from "./accepting.ts";
import { closeConnection, isProxy, readProxyHeader } from "./proxy_protocol.ts";

/** Size of the read buffer for one direction of a connection. */
const BUFFER_BYTES = 4096;

/** The default time that a client may take to arrive. */
const ARRIVAL_MILLISECONDS = 30_000;

/** How long the origin of a relayed connection may take to become known. */
const ORIGIN_MILLISECONDS = 5000;

/** The client addresses of connections that were relayed in this process, by their source port. */
export class RelayedOrigins {
  readonly #addresses = new Map<number, string>();
  readonly #onArrived = new Map<number, () => void>();
  readonly #awaited = new Map<number, (address: string) => void>();

  /** The client's address; null if the connection was not relayed. */
  get(port: number): string | null {
    return this.#addresses.get(port) ?? null;
  }

  /** Like {@linkcode get}, for a connection that may arrive before the relay has reported it. */
  async wait(port: number): Promise<string | null> {
    const known = this.get(port);
    if (known !== null) return known;
    const { promise, resolve } = Promise.withResolvers<string | null>();
    const timer = setTimeout(() => resolve(null), ORIGIN_MILLISECONDS);
    this.#awaited.set(port, resolve);
    const address = await promise;
    clearTimeout(timer);
    this.#awaited.delete(port);
    return address;
  }

  /** @param onArrived called once the connection has reached its destination */
  set(port: number, address: string, onArrived: () => void): void {
    this.#addresses.set(port, address);
    this.#onArrived.set(port, onArrived);
    this.#awaited.get(port)?.(address);
  }

  /** Records that a connection has reached its destination. */
  arrived(port: number): void {
    this.#onArrived.get(port)?.();
    this.#onArrived.delete(port);
  }

  delete(port: number): void {
    this.#onArrived.delete(port);
    this.#addresses.delete(port);
  }
}

export interface RelayOptions {
  readonly hostname: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** Whether another listener may have the same address; plain TCP only. */
  readonly reusePort?: boolean;
  /** Certificate chain and key in PEM; absent for plain TCP. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** Addresses of proxies, whose connections begin with a header of the PROXY protocol. */
  readonly proxies: readonly string[];
  /** The destination of the bytes. */
  readonly target: Deno.NetAddr;
  readonly origins: RelayedOrigins;
  /** Whether the destination accepts only relayed connections. */
  readonly isInner: boolean;
  /** Most connections at once; above it, the oldest one that has not arrived is closed. */
  readonly most: () => number;
  /**
   * Like `most`, for clients that have not arrived, that is, completed TLS and the WebSocket
   * handshake.
   */
  readonly mostUnderway?: () => number;
  /** How long a client may take to arrive, in milliseconds; default 30 s. */
  readonly arrivalMilliseconds?: () => number;
  readonly failures: AcceptFailures;
}

/**
 * Listens, strips TLS or the header of a proxy, and forwards the rest. {@linkcode RelayedOrigins}
 * holds the client's address.
 */
export class Relay {
  readonly #options: RelayOptions;
  readonly #open = new Set<Deno.Conn>();
  readonly #running = new Set<Promise<void>>();
  #listener: Deno.Listener;
  /** Clients that have not arrived yet, the oldest first. */
  readonly #underway = new Set<Deno.Conn>();
  #clients = 0;
  #stopped = false;

  constructor(options: RelayOptions) {
    this.#options = options;
    this.#listener = this.#listen(options, options.tls);
    this.#track(this.#accept(this.#listener));
  }

  get addr(): Deno.NetAddr {
    return this.#listener.addr as Deno.NetAddr;
  }

  /** Whether it listens with TLS. */
  get secure(): boolean {
    return this.#options.tls !== undefined;
  }

  /** The number of clients that have not arrived yet. */
  get underway(): number {
    return this.#underway.size;
  }

  /**
   * Uses another certificate for new connections. Throws, and changes nothing, if it is invalid.
   */
  renewCertificate(tls: { readonly cert: string; readonly key: string }): void {
    const old = this.#listener;
    this.#listener = this.#listen(this.addr, tls);
    this.#track(this.#accept(this.#listener));
    old.close();
  }

  /** Stops listening. */
  stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#listener.close();
  }

  /** Closes all connections. Resolves when they are closed. */
  async close(): Promise<void> {
    for (const conn of this.#open) closeConnection(conn);
    await Promise.all(this.#running);
  }

  #listen(
    { hostname, port }: { hostname: string; port: number },
    tls: RelayOptions["tls"],
  ): Deno.Listener {
    return tls === undefined
      ? Deno.listen({ hostname, port, reusePort: this.#options.reusePort ?? false })
      : Deno.listenTls({ hostname, port, reusePort: true, ...tls });
  }

  #accept(listener: Deno.Listener): Promise<void> {
    const { failures } = this.#options;
    return acceptConnections({
      listener,
      take: (conn) => {
        if (this.#isFull() && !this.#makeRoom()) closeConnection(conn);
        else this.#track(this.#relay(conn));
      },
      isOpen: () => !this.#stopped && listener === this.#listener,
      onFailure: (error) => failures.report("irc relay", error),
    });
  }

  #isFull(): boolean {
    const { most, mostUnderway = most } = this.#options;
    return this.#clients >= most() || this.#underway.size >= mostUnderway();
  }

  #makeRoom(): boolean {
    for (const oldest of this.#underway) {
      this.#underway.delete(oldest);
      closeConnection(oldest);
      return true;
    }
    return false;
  }

  #track(work: Promise<void>): void {
    const tracked: Promise<void> = work.finally(() => this.#running.delete(tracked));
    this.#running.add(tracked);
  }

  async #relay(conn: Deno.Conn): Promise<void> {
    this.#open.add(conn);
    this.#underway.add(conn);
    this.#clients++;
    const milliseconds = this.#options.arrivalMilliseconds?.() ?? ARRIVAL_MILLISECONDS;
    const timer = setTimeout(() => closeConnection(conn), milliseconds);
    try {
      const client = await this.#clientOf(conn);
      if (client !== null) {
        await this.#passOn(conn, client, () => {
          clearTimeout(timer);
          this.#underway.delete(conn);
        });
      }
    } catch {
      // One side is gone.
    } finally {
      clearTimeout(timer);
      this.#clients--;
      this.#underway.delete(conn);
      this.#open.delete(conn);
      closeConnection(conn);
    }
  }

  async #clientOf(
    conn: Deno.Conn,
  ): Promise<{ address: string; rest: Uint8Array<ArrayBuffer> } | null> {
    const { proxies, origins, isInner } = this.#options;
    const { hostname, port } = conn.remoteAddr as Deno.NetAddr;
    const peer = isInner ? await origins.wait(port) : hostname;
    if (peer === null) return null;
    if (!isProxy(proxies, peer)) return { address: peer, rest: new Uint8Array() };
    const header = await readProxyHeader(conn);
    return header && { address: header.address ?? peer, rest: header.rest };
  }

  async #passOn(
    conn: Deno.Conn,
    { address, rest }: { address: string; rest: Uint8Array<ArrayBuffer> },
    onArrived: () => void,
  ): Promise<void> {
    const { target, origins, isInner } = this.#options;
    const inner = await Deno.connect({ hostname: target.hostname, port: target.port });
    const { port } = inner.localAddr as Deno.NetAddr;
    origins.set(port, address, () => {
      onArrived();
      if (isInner) origins.arrived((conn.remoteAddr as Deno.NetAddr).port);
    });
    this.#open.add(inner);
    try {
      inner.setNoDelay(true);
      await writeAll(inner, rest);
      await Promise.race([copy(conn, inner), copy(inner, conn)]);
    } finally {
      this.#open.delete(inner);
      origins.delete(port);
      closeConnection(inner);
    }
  }
}

/** Forwards bytes until the end, or until one side is gone. */
async function copy(from: Deno.Conn, to: Deno.Conn): Promise<void> {
  const buffer = new Uint8Array(BUFFER_BYTES);
  try {
    for (let count = await from.read(buffer); count !== null; count = await from.read(buffer)) {
      await writeAll(to, buffer.subarray(0, count));
    }
  } catch {
    // One side is gone; this ends the other.
  }
}

async function writeAll(conn: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let sent = 0; sent < bytes.length;) sent += await conn.write(bytes.subarray(sent));
}
