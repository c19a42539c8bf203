import type { Address } from "../services/config/mod.ts";
import type { Log } from "../services/log.ts";

/** How long running requests may take once the server is to stop, in milliseconds. */
const GRACE = 10_000;

/** Answers a request; `remoteAddress` is the socket's. */
export type HttpHandler = (request: Request, remoteAddress: string) => Response | Promise<Response>;

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
  readonly log: Log;
}

/** An HTTP server that listens. */
export class HttpServer {
  readonly #handler: HttpHandler;
  readonly #log: Log;
  readonly #abort = new AbortController();
  /** Those that were replaced, as long as their last connections last. */
  readonly #replaced = new Set<Deno.HttpServer<Deno.NetAddr>>();
  #server: Deno.HttpServer<Deno.NetAddr>;

  /** Listens, with TLS where there is a certificate. */
  constructor({ address, handler, certificate, log }: HttpServerOptions) {
    this.#handler = handler;
    this.#log = log;
    this.#server = this.#listen(address, certificate);
  }

  /** The address that it is bound to. */
  get address(): Address {
    const { hostname, port } = this.#server.addr;
    return { hostname, port };
  }

  /**
   * Gives connections to come another certificate. A listener cannot change its own: another takes
   * its place on the same address and listens before the first one stops accepting. Requests that
   * run, and streams, go on. A connection whose first request was not read yet is closed, as an
   * idle one is; its client must connect again.
   *
   * @throws what the runtime throws where the certificate is not one; all stays as it is then
   */
  renewCertificate(certificate: Certificate): void {
    const old = this.#server;
    this.#server = this.#listen(this.address, certificate);
    this.#replaced.add(old);
    old.shutdown().finally(() => this.#replaced.delete(old));
  }

  /** Stops accepting, lets running requests finish for a while, then cuts them off. */
  async stop(): Promise<void> {
    const timer = setTimeout(() => this.#abort.abort(), GRACE);
    const finished = [...this.#replaced].map((server) => server.finished);
    await Promise.all([this.#server.shutdown(), ...finished]);
    clearTimeout(timer);
  }

  #listen({ hostname, port }: Address, certificate: Certificate | null) {
    return Deno.serve({
      hostname,
      port,
      signal: this.#abort.signal,
      onListen: () => {},
      onError: (error) => this.#answerBug(error),
      ...(certificate === null ? {} : { ...certificate, reusePort: true }),
    }, (request, info) => this.#handler(request, info.remoteAddr.hostname));
  }

  /** The handler answers its own errors; whatever it lets through is a bug of its own. */
  #answerBug(error: unknown): Response {
    const id = crypto.randomUUID();
    this.#log.error("A request failed on a bug", { requestId: id, error });
    const headers = { "X-Request-Id": id };
    return Response.json({ error: `internal error (${id})` }, { status: 500, headers });
  }
}
