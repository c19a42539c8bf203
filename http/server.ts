import { closeQuietly } from "../services/kernel/body_until.ts";
import type { Address } from "../services/operation/config/mod.ts";
import { acceptConnections, TlsPort } from "../services/engines/irc/mod.ts";
import type { Principal } from "../services/people/identity/mod.ts";
import type { Log } from "../services/kernel/log.ts";
import { dropUnreadBody, mayBeLong, mayHaveBody, WatchedRequest } from "./body.ts";
import { type HttpConnection, isLongAnswer } from "./connection.ts";
import type { HttpConnections } from "./connections.ts";
import { MAX_URL_LENGTH, RequestTargets } from "./hosts.ts";
import {
  cutSignal,
  type RequestInfo,
  type ServeConnection,
  type ServedConnection,
} from "./runtime.ts";

/** How long running requests may take by default when the server stops, in milliseconds. */
const GRACE = 10_000;

/**
 * Relayed connections beyond the limit, so that {@linkcode HttpConnections} decides which one to
 * close.
 */
const MORE_RELAYED = 16;

/** How long the runtime has to send a short answer that it has, in milliseconds. */
const FLUSH_MILLISECONDS = 5;

/** The status of an answer to a request whose body came too slowly. */
const REQUEST_TIMEOUT = 408;

/** The connection of a request. */
export interface RequestConnection {
  /** The address of the socket. */
  readonly address: string;
  /** Whether it is kept already, so that another call of `trust` changes nothing. */
  readonly isKept: boolean;
  /** Call this once the request has shown a valid credential; its connection is then kept. */
  trust(principal: Principal): void;
  /** Call this once another node has shown that it is one; its connections are then kept. */
  relay(): void;
}

/**
 * Answers a request.
 *
 * @param completed settles when the answer has been sent, or the client is gone
 */
export type HttpHandler = (
  request: Request,
  connection: RequestConnection,
  completed: Promise<void>,
) => Response | Promise<Response>;

/** A certificate chain and its key, as PEM texts. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

export interface HttpServerOptions {
  readonly address: Address;
  readonly handler: HttpHandler;
  /** Null without TLS. */
  readonly certificate: Certificate | null;
  /** Serves each connection. */
  readonly serve: ServeConnection;
  /** The connections of all servers together. */
  readonly connections: HttpConnections;
  readonly log: Log;
  /** How long running requests may take when the server stops; ten seconds by default. */
  readonly graceMilliseconds?: number;
}

/** A port on which a server accepts connections: a {@linkcode TlsPort}, or one in clear text. */
interface Port {
  readonly addr: Deno.NetAddr;
  readonly handshakes: number;
  renewCertificate?(certificate: Certificate): void;
  guard?(): void;
  stop(): Promise<void>;
  close?(): Promise<void>;
}

/**
 * A listening HTTP server. It accepts connections itself, within the bounds of {@linkcode
 * HttpConnections}, and continues after a failure to accept; the runtime serves each connection.
 */
export class HttpServer {
  readonly #options: HttpServerOptions;
  readonly #targets = new RequestTargets();
  readonly #served = new Map<HttpConnection, ServedConnection>();
  readonly #port: Port;
  #isOpen = true;

  /** Listens, with TLS if there is a certificate. */
  constructor(options: HttpServerOptions) {
    this.#options = options;
    const { address, certificate } = options;
    this.#port = certificate === null
      ? this.#listen(address)
      : this.#listenTls(address, certificate);
  }

  /** The address that it is bound to. */
  get address(): Address {
    const { hostname, port } = this.#port.addr;
    return { hostname, port };
  }

  /** The number of clients in a TLS handshake. */
  get handshakes(): number {
    return this.#port.handshakes;
  }

  /**
   * Uses another certificate for new connections. Open connections continue.
   *
   * @throws the runtime's error, and changes nothing, if the certificate is invalid
   */
  renewCertificate(certificate: Certificate): void {
    this.#port.renewCertificate?.(certificate);
  }

  /** Ensures that no client can keep the descriptor of a closed connection. */
  guard(): void {
    this.#port.guard?.();
  }

  /** Stops accepting, lets running requests finish for a while, then cuts them off. */
  async stop(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    await this.#port.stop();
    const running = new Set<HttpConnection>();
    for (const [connection, served] of this.#served) {
      if (connection.waits) {
        connection.cut();
        continue;
      }
      running.add(connection);
      connection.onIdle = () => {
        // The runtime cannot cut it off after this.
        running.delete(connection);
        served.shutdown().catch(() => {});
      };
    }
    const { promise: late, resolve: end } = Promise.withResolvers<void>();
    const timer = setTimeout(() => {
      for (const connection of running) connection.cut();
      end();
    }, this.#options.graceMilliseconds ?? GRACE);
    const finished = Array.from(this.#served.values(), ({ finished }) => finished);
    await Promise.race([Promise.allSettled(finished), late]);
    clearTimeout(timer);
    await this.#port.close?.();
  }

  #listen(address: Address): Port {
    const listener = Deno.listen({ hostname: address.hostname, port: address.port });
    const accepting = acceptConnections({
      listener,
      take: (conn) => this.#take(conn, (conn.remoteAddr as Deno.NetAddr).hostname),
      isOpen: () => this.#isOpen,
      onFailure: (error) => this.#options.connections.failures.report("http", error),
    });
    const stop = () => {
      listener.close();
      return accepting;
    };
    return { addr: listener.addr as Deno.NetAddr, handshakes: 0, stop };
  }

  #listenTls(address: Address, tls: Certificate): TlsPort {
    const { connections, log } = this.#options;
    return new TlsPort({
      ...address,
      tls,
      protocols: ["h2", "http/1.1"],
      handshakeMilliseconds: () => connections.limits.headerMilliseconds,
      most: () => ({
        underway: connections.mostHandshakes,
        connections: connections.limits.total + MORE_RELAYED,
      }),
      take: (conn, client) => this.#take(conn, client),
      name: "http",
      log,
      failures: connections.failures,
    });
  }

  #take(conn: Deno.Conn, address: string): void {
    const { connections } = this.#options;
    const connection = this.#isOpen ? connections.enter(address, this.#port.addr.port) : null;
    if (connection === null) closeQuietly(conn);
    else this.#serveOn(conn, connection);
  }

  /** Serves a connection; drops one that is already closed. */
  #serveOn(conn: Deno.Conn, connection: HttpConnection): void {
    try {
      if (this.#port instanceof TlsPort) this.#watch(connection, this.#port);
      else (conn as Deno.TcpConn).setNoDelay(true);
      const served = this.#options.serve(
        conn,
        cutSignal(connection.signal),
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

  /** A client that reads no answer keeps its descriptor over TLS even after it is cut off. */
  #watch(connection: HttpConnection, port: TlsPort): void {
    connection.signal.addEventListener("abort", () => {
      if (!connection.waits) port.noteLate();
    });
  }

  #abandon(conn: Deno.Conn, connection: HttpConnection): void {
    this.#forget(connection);
    closeQuietly(conn);
  }

  #forget(connection: HttpConnection): void {
    this.#served.delete(connection);
    this.#options.connections.leave(connection);
    connection.leave();
  }

  #answer(
    request: Request,
    info: RequestInfo,
    connection: HttpConnection,
  ): Response | Promise<Response> {
    const hasRoom = connection.begin();
    const { completed } = info;
    completed.then(connection.end, connection.end);
    if (!hasRoom) {
      this.#options.connections.closeCrowd(connection);
      return unsent();
    }
    const turn = connection.turn();
    return turn === null
      ? this.#answerNow(request, completed, connection)
      : this.#answerInTurn(turn, { request, completed, connection });
  }

  async #answerInTurn(
    turn: Promise<boolean>,
    { request, completed, connection }: {
      readonly request: Request;
      readonly completed: Promise<void>;
      readonly connection: HttpConnection;
    },
  ): Promise<Response> {
    const isOpen = await turn;
    if (!isOpen) return unsent();
    return await this.#answerNow(request, completed, connection);
  }

  #answerNow(
    request: Request,
    completed: Promise<void>,
    connection: HttpConnection,
  ): Response | Promise<Response> {
    const send = (answer: Response) => {
      // Deno 2.4 would wait for the rest of the body, in spite of "Connection: close".
      if (answer.status === REQUEST_TIMEOUT) {
        // Over HTTP/2 it may have other requests.
        this.#closeAfter(completed, connection, () => connection.waits);
      }
      return isLongAnswer(answer) ? connection.pace(answer, completed) : answer;
    };
    const answer = this.#ask(request, completed, connection);
    return answer instanceof Response ? send(answer) : answer.then(send);
  }

  #ask(
    request: Request,
    completed: Promise<void>,
    connection: HttpConnection,
  ): Response | Promise<Response> {
    const isLong = mayBeLong(request);
    const watched = isLong && request.body !== null && !connection.relays
      ? new WatchedRequest(request, request.body)
      : null;
    if (isLong && request.body === null) return this.#refuseBody(request, completed, connection);
    const asked = watched?.request ?? request;
    const response = request.url.length > MAX_URL_LENGTH
      ? refuseUrl()
      : this.#targets.isValid(request)
      ? this.#options.handler(asked, connection, completed)
      : refuseTarget();
    if (watched !== null) return this.#answerWatched(watched, response, connection);
    // While a request without a body waits for its answer, nothing else of it stays in memory.
    return mayHaveBody(request) ? this.#answerAfterBody(request, response, connection) : response;
  }

  /**
   * Refuses a body that the runtime does not pass on, and closes the connection: the runtime would
   * read such a body to its end, however long it is.
   */
  #refuseBody({ method }: Request, completed: Promise<void>, connection: HttpConnection): Response {
    this.#closeAfter(completed, connection, () => true);
    const error = `${method} takes no body of this length; leave it out`;
    return Response.json({ error }, { status: 400, headers: { Connection: "close" } });
  }

  /** Closes a connection soon after an answer has been sent, if that is still right then. */
  #closeAfter(
    completed: Promise<void>,
    connection: HttpConnection,
    isRight: () => boolean,
  ): void {
    const cut = () => {
      if (this.#served.has(connection) && isRight()) connection.cut();
    };
    const end = () => Deno.unrefTimer(setTimeout(cut, FLUSH_MILLISECONDS));
    completed.then(end, end);
  }

  async #answerAfterBody(
    request: Request,
    response: Response | Promise<Response>,
    connection: HttpConnection,
  ): Promise<Response> {
    const answered = await response;
    const dropped = dropUnreadBody(request, connection.trusted);
    if (dropped !== null) await dropped;
    return answered;
  }

  async #answerWatched(
    watched: WatchedRequest,
    response: Response | Promise<Response>,
    connection: HttpConnection,
  ): Promise<Response> {
    const answered = await response;
    await watched.leave(connection.trusted);
    return answered;
  }

  /** The handler answers its own errors; anything that it throws is a bug. */
  #answerBug(error: unknown): Response {
    const id = crypto.randomUUID();
    this.#options.log.error("A request failed on a bug", { requestId: id, error });
    const headers = { "X-Request-Id": id };
    return Response.json({ error: `internal error (${id})` }, { status: 500, headers });
  }
}

/** An answer that nobody gets, because the connection has ended. */
function unsent(): Response {
  return new Response(null, { status: 503 });
}

function refuseUrl(): Response {
  const error = `The URL has more than ${MAX_URL_LENGTH} characters`;
  return Response.json({ error }, { status: 414 });
}

function refuseTarget(): Response {
  const error = "The Host header or the target of the request is not valid";
  return Response.json({ error }, { status: 400 });
}
