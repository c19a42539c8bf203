/** A port that listens with TLS, and withstands clients that never finish the handshake. */

import { acceptConnections, type AcceptFailures } from "./accepting.ts";
import { closeConnection } from "./proxy_protocol.ts";
import { Relay, RelayedOrigins } from "./relay.ts";

/** Concurrent handshakes, and late handshakes, at which the port gets a relay. */
const MOST_UNDERWAY = 512;
const MOST_LATE = 32;

/** Where the port listens behind a relay. */
const INNER = { hostname: "127.0.0.1", port: 0 } as const;

/** A certificate chain and its key, as PEM texts. */
export interface TlsCertificate {
  readonly cert: string;
  readonly key: string;
}

export interface TlsPortOptions {
  readonly hostname: string;
  /** 0 picks a free one. */
  readonly port: number;
  readonly tls: TlsCertificate;
  /** Protocols that are offered over ALPN. */
  readonly protocols?: string[];
  /** How long a handshake may take, in milliseconds. */
  readonly handshakeMilliseconds: () => number;
  /** Most concurrent handshakes, and most connections in all, once there is a relay. */
  readonly most: () => { readonly underway: number; readonly connections: number };
  /** Called with a connection after its handshake, and its client's IP address. Must not throw. */
  readonly take: (conn: Deno.TlsConn, address: string) => void;
  /** Its name in the log and in errors. */
  readonly name: string;
  readonly log: { warn(message: string, properties: Record<string, unknown>): void };
  readonly failures: AcceptFailures;
}

/**
 * Accepts connections over TLS and shakes hands with their clients.
 *
 * The runtime never closes a socket during a handshake, so a client that stalls keeps its
 * descriptor. If many clients stall, the port puts a {@linkcode Relay} in front of itself. The
 * relay accepts without TLS and forwards the bytes to an inner TLS listener, so its sockets can be
 * closed at a deadline. A relay costs two more descriptors per connection and about 20 µs per
 * request, so a port without such clients has none. A port never drops its relay.
 */
export class TlsPort {
  readonly #options: TlsPortOptions;
  readonly #origins = new RelayedOrigins();
  readonly #accepting = new Set<Promise<void>>();
  /** Connections in a handshake without a relay. */
  readonly #underway = new Set<Deno.TlsConn>();
  #tls: TlsCertificate;
  #listener: Deno.TlsListener;
  #relay: Relay | null = null;
  #late = 0;
  #isOpen = true;

  /** Listens. @throws the runtime's error if it cannot */
  constructor(options: TlsPortOptions) {
    this.#options = options;
    this.#tls = options.tls;
    this.#listener = this.#listen(options);
    this.#track(this.#accept(this.#listener, false));
  }

  /** The address that clients connect to. */
  get addr(): Deno.NetAddr {
    return this.#relay?.addr ?? this.#listener.addr as Deno.NetAddr;
  }

  /** The number of clients in a handshake. */
  get handshakes(): number {
    return this.#underway.size + (this.#relay?.underway ?? 0);
  }

  /**
   * Uses another certificate for new connections. A listener cannot change its own: a new one
   * listens on the same address before the old one stops accepting.
   *
   * @throws the runtime's error, and changes nothing, if the certificate is invalid
   */
  renewCertificate(tls: TlsCertificate): void {
    const renewed = this.#listen(this.#listener.addr as Deno.NetAddr, tls);
    this.#tls = tls;
    this.#replaceListener(renewed);
  }

  /** Puts a relay in front from now on; open connections continue without it. */
  guard(): void {
    if (this.#relay !== null || !this.#isOpen) return;
    const { most, handshakeMilliseconds, failures, name, log } = this.#options;
    let inner: Deno.TlsListener | undefined;
    try {
      inner = this.#listen(INNER);
      this.#relay = new Relay({
        ...this.addr,
        reusePort: true,
        proxies: [],
        target: inner.addr as Deno.NetAddr,
        origins: this.#origins,
        isInner: false,
        most: () => most().connections,
        mostUnderway: () => most().underway,
        arrivalMilliseconds: handshakeMilliseconds,
        failures,
      });
    } catch (error) {
      // No descriptors are left for it; the next connection tries again.
      inner?.close();
      return failures.report(name, error);
    }
    this.#replaceListener(inner);
    const handshakes = this.#underway.size;
    log.warn("TLS handshakes stall; from now on, a relay closes stalled ones", {
      listener: name,
      handshakes,
    });
  }

  /** Counts a client that may keep its descriptor after its connection was closed. */
  noteLate(): void {
    if (++this.#late >= MOST_LATE) this.guard();
  }

  /** Stops listening and drops pending handshakes. Resolves when nothing more is accepted. */
  async stop(): Promise<void> {
    if (this.#isOpen) {
      this.#isOpen = false;
      this.#listener.close();
      this.#relay?.stop();
      for (const conn of this.#underway) closeConnection(conn);
    }
    await Promise.all(this.#accepting);
  }

  /** Resolves when every relayed connection is closed. Call it after {@linkcode stop}. */
  async close(): Promise<void> {
    await this.#relay?.close();
  }

  #listen({ hostname, port }: { hostname: string; port: number }, tls = this.#tls) {
    const { protocols } = this.#options;
    const alpn = protocols === undefined ? {} : { alpnProtocols: protocols };
    const { cert, key } = tls;
    return Deno.listenTls({ hostname, port, cert, key, reusePort: true, ...alpn });
  }

  #replaceListener(next: Deno.TlsListener): void {
    const old = this.#listener;
    this.#listener = next;
    this.#track(this.#accept(next, this.#relay !== null));
    old.close();
  }

  #track(work: Promise<void>): void {
    const tracked: Promise<void> = work.finally(() => this.#accepting.delete(tracked));
    this.#accepting.add(tracked);
  }

  #accept(listener: Deno.TlsListener, isRelayed: boolean): Promise<void> {
    const { name, failures } = this.#options;
    return acceptConnections({
      listener,
      take: (conn) => isRelayed ? this.#admitRelayed(conn) : this.#admit(conn),
      isOpen: () => this.#isOpen && listener === this.#listener,
      onFailure: (error) => failures.report(name, error),
    });
  }

  /** A late connection is not closed; it counts until its descriptor is free. */
  async #admit(conn: Deno.TlsConn): Promise<void> {
    const { handshakeMilliseconds, take } = this.#options;
    const { hostname } = conn.remoteAddr as Deno.NetAddr;
    let isLate = false;
    this.#underway.add(conn);
    const timer = setTimeout(() => {
      isLate = true;
      this.noteLate();
    }, handshakeMilliseconds());
    if (this.#underway.size > MOST_UNDERWAY) this.guard();
    const isDone = await shakeHands(conn);
    clearTimeout(timer);
    this.#underway.delete(conn);
    if (isDone && !isLate && this.#isOpen) take(conn, hostname);
    else closeConnection(conn);
  }

  /** The relay closes its own end at the deadline, which ends the handshake. */
  async #admitRelayed(conn: Deno.TlsConn): Promise<void> {
    const { port } = conn.remoteAddr as Deno.NetAddr;
    const [isDone, address] = await Promise.all([
      shakeHands(conn),
      this.#origins.wait(port),
    ]);
    if (!isDone || address === null || !this.#isOpen) return closeConnection(conn);
    this.#origins.arrived(port);
    this.#options.take(conn, address);
  }
}

async function shakeHands(conn: Deno.TlsConn): Promise<boolean> {
  try {
    await conn.handshake();
    return true;
  } catch {
    // Not TLS, or the client is gone.
    return false;
  }
}
