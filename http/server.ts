import type { Address } from "../services/config/mod.ts";
import { acceptConnections } from "../services/irc/mod.ts";
import type { Log } from "../services/log.ts";
import type { HttpConnection } from "./connection.ts";
import type { HttpConnections } from "./connections.ts";
import { RequestTargets } from "./request_targets.ts";
import { findServeConnection, type RequestInfo, type ServedConnection } from "./runtime.ts";

/** How long running requests may take once the server is to stop, in milliseconds. */
const GRACE = 10_000;

/** TLS handshakes that may be under way at once. */
const MOST_HANDSHAKES = 1000;

/** The connection that a request came by. */
export interface RequestConnection {
  /** The address of the socket. */
  readonly address: string;
  /** The port of the socket's other end. */
  readonly port: number;
  /** To be called once the request has shown a valid credential: its connection is then kept. */
  trust(): void;
}

/** Answers a request. */
export type HttpHandler = (
  request: Request,
  connection: RequestConnection,
) => Response | Promise<Response>;

/** A certificate chain and its key, as PEM texts. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

export interface HttpServerOptions {
  readonly address: Address;
  readonly handler: HttpHandler;
  /** Null where there is no TLS. */
  readonly certificate: Certificate | null;
  /** Those of all servers together. */
  readonly connections: HttpConnections;
  readonly log: Log;
}

/**
 * An HTTP server that listens. It accepts connections itself, within the bounds of
 * {@linkcode HttpConnections}, and goes on when it cannot accept one; the runtime serves each of them.
 */
export class HttpServer {
  readonly #options: HttpServerOptions;
  readonly #serve = findServeConnection();
  readonly #targets = new RequestTargets();
  readonly #served = new Map<HttpConnection, ServedConnection>();
  #listener: Deno.Listener;
  #accepting: Promise<void>;
  #handshakes = 0;
  #isOpen = true;

  /** Listens, with TLS where there is a certificate. */
  constructor(options: HttpServerOptions) {
    const { address, certificate } = options;
    this.#options = options;
    this.#listener = listen(address, certificate);
    this.#accepting = this.#accept(this.#listener);
  }

  /** The address that it is bound to. */
  get address(): Address {
    const { hostname, port } = this.#listener.addr as Deno.NetAddr;
    return { hostname, port };
  }

  /**
   * Gives connections to come another certificate. A listener cannot change its own: another takes
   * its place on the same address and listens before the first one stops accepting. Connections that
   * are open go on.
   *
   * @throws what the runtime throws where the certificate is not one; all stays as it is then
   */
  renewCertificate(certificate: Certificate): void {
    const old = this.#listener;
    this.#listener = listen(this.address, certificate);
    this.#accepting = Promise.all([this.#accepting, this.#accept(this.#listener)]).then(() => {});
    old.close();
  }

  /** Stops accepting, lets running requests finish for a while, then cuts them off. */
  async stop(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#listener.close();
    await this.#accepting;
    for (const [connection, served] of this.#served) {
      if (connection.waits) connection.cut();
      else served.shutdown().catch(() => {});
    }
    const timer = setTimeout(() => {
      for (const connection of this.#served.keys()) connection.cut();
    }, GRACE);
    await Promise.allSettled([...this.#served.values()].map(({ finished }) => finished));
    clearTimeout(timer);
  }

  #accept(listener: Deno.Listener): Promise<void> {
    return acceptConnections({
      listener,
      take: (conn) => this.#take(conn),
      isOpen: () => this.#isOpen && listener === this.#listener,
      onFailure: (error) => this.#options.connections.failures.report("http", error),
    });
  }

  #take(conn: Deno.Conn): void {
    const { connections } = this.#options;
    const connection = this.#isOpen ? connections.enter(conn.remoteAddr as Deno.NetAddr) : null;
    if (connection === null) return closeQuietly(conn);
    if (this.#options.certificate === null) this.#serveOn(conn, connection);
    else this.#shakeHands(conn as Deno.TlsConn, connection);
  }

  /**
   * The runtime gives up no handshake before the client does, so that those under way have a bound
   * of their own.
   */
  async #shakeHands(conn: Deno.TlsConn, connection: HttpConnection): Promise<void> {
    if (this.#handshakes >= MOST_HANDSHAKES) return this.#abandon(conn, connection);
    this.#handshakes++;
    const close = () => closeQuietly(conn);
    connection.signal.addEventListener("abort", close);
    try {
      await conn.handshake();
    } catch {
      // It is no TLS, or took too long.
      close();
    }
    this.#handshakes--;
    connection.signal.removeEventListener("abort", close);
    if (connection.signal.aborted || !this.#isOpen) close();
    this.#serveOn(conn, connection);
  }

  /** Serves a connection; one that is closed already is forgotten. */
  #serveOn(conn: Deno.Conn, connection: HttpConnection): void {
    try {
      if (this.#options.certificate === null) (conn as Deno.TcpConn).setNoDelay(true);
      const served = this.#serve(
        conn,
        connection.signal,
        (request, info) => this.#answer(request, info, connection),
        (error) => this.#answerBug(error),
        () => {},
      );
      this.#served.set(connection, served);
      const forget = () => this.#forget(connection);
      served.finished.then(forget, forget);
    } catch {
      this.#abandon(conn, connection);
    }
  }

  #abandon(conn: Deno.Conn, connection: HttpConnection): void {
    this.#forget(connection);
    closeQuietly(conn);
  }

  #forget(connection: HttpConnection): void {
    this.#served.delete(connection);
    this.#options.connections.leave(connection);
  }

  async #answer(
    request: Request,
    info: RequestInfo,
    connection: HttpConnection,
  ): Promise<Response> {
    connection.begin();
    info.completed.then(connection.end, connection.end);
    if (!this.#targets.isValid(request)) {
      return Response.json({ error: "The Host header or the target of the request is not valid" }, {
        status: 400,
      });
    }
    return await this.#options.handler(request, connection);
  }

  /** The handler answers its own errors; whatever it lets through is a bug of its own. */
  #answerBug(error: unknown): Response {
    const id = crypto.randomUUID();
    this.#options.log.error("A request failed on a bug", { requestId: id, error });
    const headers = { "X-Request-Id": id };
    return Response.json({ error: `internal error (${id})` }, { status: 500, headers });
  }
}

function listen({ hostname, port }: Address, certificate: Certificate | null): Deno.Listener {
  if (certificate === null) return Deno.listen({ hostname, port });
  const { cert, key } = certificate;
  const alpnProtocols = ["h2", "http/1.1"];
  return Deno.listenTls({ hostname, port, cert, key, alpnProtocols, reusePort: true });
}

function closeQuietly(conn: Deno.Conn): void {
  try {
    conn.close();
  } catch {
    // The runtime closed it already.
  }
}
