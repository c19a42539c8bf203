/** Every port that the server listens on. */

import type { IrcLogger } from "../options.ts";
import { acceptConnections, AcceptFailures } from "./accepting.ts";
import { closeConnection, isProxy, readProxyHeader } from "./proxy_protocol.ts";
import { Relay, RelayedOrigins, type RelayOptions } from "./relay.ts";
import { type TlsCertificate, TlsPort } from "./tls_port.ts";
import {
  type OpenedWebSocket,
  WebSocketListener,
  type WebSocketListenOptions,
} from "./websocket_listener.ts";

/** Most connections of proxies that have not sent their PROXY header yet. */
const MAX_INTRODUCTIONS = 1000;

/** The address of listeners that only relays connect to. */
const INNER = { hostname: "127.0.0.1", port: 0 } as const;

/** Most TLS handshakes at a time on one port, once its relay can end them. */
const MOST_HANDSHAKES = 1000;

export interface ListenOptions {
  hostname: string;
  /** 0 picks a free one. */
  port: number;
  /** Absent for plain TCP. */
  tls?: TlsCertificate;
  /**
   * Addresses of proxies. Their connections, and no others, begin with a header of the PROXY protocol,
   * which names the client's address.
   */
  proxies?: readonly string[];
}

/** A connection over TCP or TLS that is ready for its first line. */
export interface AcceptedStream {
  readonly conn: Deno.Conn;
  readonly secure: boolean;
  /** IP address of the client, if it is not that of the connection. */
  readonly address?: string | undefined;
  /** Bytes that were already read from the connection. */
  readonly received?: Uint8Array<ArrayBuffer> | undefined;
}

export interface ListenersOptions {
  readonly onStream: (stream: AcceptedStream) => void;
  readonly onWebSocket: (opened: OpenedWebSocket) => void;
  /** Most connections that may be relayed at once, of each port. */
  readonly mostRelayed: () => number;
  /** How long a TLS handshake may take. */
  readonly handshakeMilliseconds: () => number;
  /** Called when no file descriptors are left for connections. */
  readonly onExhausted: () => void;
  readonly log: IrcLogger;
}

/** How a listener takes its connections in. */
interface Acceptance {
  readonly secure: boolean;
  readonly proxies: readonly string[];
  /** Whether all come through one of our relays. */
  readonly isInner: boolean;
}

type RelayWish =
  & Pick<ListenOptions, "hostname" | "port" | "proxies">
  & Pick<RelayOptions, "target">
  & { readonly tls?: TlsCertificate | undefined; readonly isInner?: boolean };

/**
 * Listens on any number of ports. A {@linkcode Relay} in front of a port does what the runtime
 * cannot do: it strips a proxy header that precedes TLS or HTTP, bounds connections that want to
 * become WebSockets, and replaces the certificate without ending open ones.
 */
export class Listeners {
  readonly #options: ListenersOptions;
  readonly #failures: AcceptFailures;
  readonly #streams = new Map<Deno.Listener, Acceptance>();
  readonly #tlsPorts: TlsPort[] = [];
  readonly #webSockets: WebSocketListener[] = [];
  readonly #relays: Relay[] = [];
  readonly #origins = new RelayedOrigins();
  readonly #accepting = new Set<Promise<void>>();
  /** Connections whose PROXY header has not arrived yet. */
  readonly #unintroduced = new Set<Deno.Conn>();
  readonly #introductions = new Set<Promise<void>>();
  readonly #closing = new AbortController();

  constructor(options: ListenersOptions) {
    this.#options = options;
    this.#failures = new AcceptFailures(options);
  }

  /** Failures to accept a connection. */
  get acceptFailures(): number {
    return this.#failures.count;
  }

  /** Opens a listener for TCP or TLS. */
  listen(options: ListenOptions): Deno.NetAddr {
    const { tls, proxies = [] } = options;
    const secure = tls !== undefined;
    if (!secure) return this.#listen(options, { secure, proxies, isInner: false });
    if (proxies.length === 0) return this.#listenTls(options, tls);
    const target = this.#listen({ ...INNER, tls }, { secure, proxies: [], isInner: true });
    return this.#relay({ ...options, tls: undefined, target });
  }

  /** Opens a listener for WebSockets, with or without TLS. */
  listenWebSocket(options: WebSocketListenOptions): Deno.NetAddr {
    this.#assertOpen();
    const { tls } = options;
    const listener = new WebSocketListener({ ...options, ...INNER }, {
      secure: tls !== undefined,
      peerOf: (port) => this.#origins.get(port),
      onOpen: (opened, port) => {
        this.#origins.arrived(port);
        this.#options.onWebSocket(opened);
      },
    }, this.#failures);
    this.#webSockets.push(listener);
    const target = tls === undefined
      ? listener.addr
      : this.#relay({ ...INNER, tls, isInner: true, target: listener.addr });
    return this.#relay({ ...options, tls: undefined, target });
  }

  /**
   * Uses another certificate for new connections. A listener cannot change its own, so each TLS
   * listener is replaced by one on the same address, which listens before the old one is closed.
   * Throws, and changes nothing, if the certificate is invalid.
   */
  renewCertificate(tls: TlsCertificate): void {
    for (const [listener, acceptance] of [...this.#streams]) {
      if (!acceptance.secure) continue;
      const { hostname, port } = listener.addr as Deno.NetAddr;
      this.#listen({ hostname, port, tls }, acceptance);
      this.#streams.delete(listener);
      listener.close();
    }
    for (const port of this.#tlsPorts) port.renewCertificate(tls);
    for (const relay of this.#relays) if (relay.secure) relay.renewCertificate(tls);
  }

  /** The number of clients in a TLS handshake. */
  get handshakes(): number {
    return this.#tlsPorts.reduce((sum, port) => sum + port.handshakes, 0);
  }

  /** Ensures that no client can keep the descriptor of a closed connection. */
  guard(): void {
    for (const port of this.#tlsPorts) port.guard();
  }

  /** Closes the ports, and connections whose PROXY header has not arrived yet. */
  async stop(): Promise<void> {
    this.#closing.abort();
    for (const listener of this.#streams.keys()) listener.close();
    this.#streams.clear();
    for (const relay of this.#relays) relay.stop();
    await Promise.all(this.#tlsPorts.map((port) => port.stop()));
    await Promise.all(this.#accepting);
    for (const conn of this.#unintroduced) closeConnection(conn);
    await Promise.all(this.#introductions);
  }

  /** Resolves when every accepted connection is closed. Call it after notifying the clients. */
  async finish(): Promise<void> {
    await Promise.all(this.#webSockets.map((listener) => listener.close()));
    await Promise.all([...this.#relays, ...this.#tlsPorts].map((port) => port.close()));
  }

  #listen({ hostname, port, tls }: ListenOptions, acceptance: Acceptance): Deno.NetAddr {
    this.#assertOpen();
    const listener = tls
      ? Deno.listenTls({ hostname, port, reusePort: true, cert: tls.cert, key: tls.key })
      : Deno.listen({ hostname, port });
    this.#streams.set(listener, acceptance);
    this.#accepting.add(this.#accept(listener, acceptance));
    return listener.addr as Deno.NetAddr;
  }

  #listenTls({ hostname, port }: ListenOptions, tls: TlsCertificate): Deno.NetAddr {
    this.#assertOpen();
    const { mostRelayed, handshakeMilliseconds, onStream, log } = this.#options;
    const opened = new TlsPort({
      hostname,
      port,
      tls,
      log,
      handshakeMilliseconds,
      most: () => ({ underway: MOST_HANDSHAKES, connections: mostRelayed() }),
      take: (conn, address) => onStream({ conn, secure: true, address }),
      name: "irc",
      failures: this.#failures,
    });
    this.#tlsPorts.push(opened);
    return opened.addr;
  }

  #relay({ hostname, port, tls, proxies = [], target, isInner = false }: RelayWish): Deno.NetAddr {
    const { mostRelayed } = this.#options;
    const relay = new Relay({
      hostname,
      port,
      proxies,
      target,
      isInner,
      ...tls === undefined ? {} : { tls },
      origins: this.#origins,
      most: mostRelayed,
      failures: this.#failures,
    });
    this.#relays.push(relay);
    return relay.addr;
  }

  #assertOpen(): void {
    if (this.#closing.signal.aborted) throw new TypeError("Cannot listen: the server is closed");
  }

  #accept(listener: Deno.Listener, acceptance: Acceptance): Promise<void> {
    return acceptConnections({
      listener,
      take: (conn) => this.#admit(conn, acceptance),
      isOpen: () => this.#streams.has(listener),
      onFailure: (error) => this.#failures.report("irc", error),
    });
  }

  #admit(conn: Deno.Conn, { secure, proxies, isInner }: Acceptance): void {
    if (!disableDelay(conn, secure)) return conn.close();
    const { hostname, port } = conn.remoteAddr as Deno.NetAddr;
    if (isInner) {
      this.#introduce(conn, async () => {
        const address = await this.#origins.wait(port);
        this.#origins.arrived(port);
        return address === null ? null : { conn, secure, address };
      });
    } else if (isProxy(proxies, hostname)) {
      this.#introduce(conn, async () => {
        const header = await readProxyHeader(conn);
        if (header === null) return null;
        return { conn, secure, address: header.address ?? hostname, received: header.rest };
      });
    } else {
      this.#options.onStream({ conn, secure });
    }
  }

  /** Accepts a connection once its client's address is known. */
  #introduce(conn: Deno.Conn, find: () => Promise<AcceptedStream | null>): void {
    if (this.#introductions.size >= MAX_INTRODUCTIONS) return closeConnection(conn);
    this.#unintroduced.add(conn);
    const introduction = find().then((stream) => {
      this.#unintroduced.delete(conn);
      if (stream === null || this.#closing.signal.aborted) closeConnection(conn);
      else this.#options.onStream(stream);
    });
    const tracked = introduction.finally(() => this.#introductions.delete(tracked));
    this.#introductions.add(tracked);
  }
}

/**
 * Disables Nagle's algorithm; the runtime does so itself for TLS. False if the connection is gone.
 */
function disableDelay(conn: Deno.Conn, secure: boolean): boolean {
  try {
    if (!secure) (conn as Deno.TcpConn).setNoDelay(true);
    return true;
  } catch {
    return false;
  }
}
