import type { Address } from "../services/config/mod.ts";

/** How long running requests may take once the server is to stop, in milliseconds. */
const GRACE = 10_000;

/** Answers a request; `remoteAddress` is the socket's. */
export type HttpHandler = (request: Request, remoteAddress: string) => Response | Promise<Response>;

/** A certificate chain and its key, as PEM texts. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** An HTTP server that listens. */
export class HttpServer {
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #abort: AbortController;

  /** Listens, with TLS where there is a certificate. */
  constructor(address: Address, handler: HttpHandler, certificate: Certificate | null) {
    this.#abort = new AbortController();
    this.#server = Deno.serve({
      hostname: address.hostname,
      port: address.port,
      signal: this.#abort.signal,
      onListen: () => {},
      ...certificate ?? {},
    }, (request, info) => handler(request, info.remoteAddr.hostname));
  }

  /** The address that it is bound to. */
  get address(): Address {
    const { hostname, port } = this.#server.addr;
    return { hostname, port };
  }

  /** Stops accepting, lets running requests finish for a while, then cuts them off. */
  async stop(): Promise<void> {
    const timer = setTimeout(() => this.#abort.abort(), GRACE);
    await this.#server.shutdown();
    clearTimeout(timer);
  }
}
