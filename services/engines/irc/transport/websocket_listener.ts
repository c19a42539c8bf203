import type { AcceptFailures } from "./accepting.ts";

/** Subprotocols of the IRCv3 document "websocket": lines as binary messages, or as text. */
const BINARY = "binary.ircv3.net";
const TEXT = "text.ircv3.net";

export interface WebSocketListenOptions {
  hostname: string;
  /** 0 picks a free one. */
  port: number;
  /**
   * Origins of web pages that may connect, or `*` for all. Clients other than browsers send no
   * origin and may always connect.
   */
  origins: readonly string[];
  /** Certificate chain and key in PEM; absent for plain TCP. */
  tls?: { cert: string; key: string };
  /** Addresses of proxies, whose connections begin with a header of the PROXY protocol. */
  proxies?: readonly string[];
  /** The client's address, given the one of the connection and the request's headers. */
  addressOf?: (address: string, headers: Headers) => string;
  /** Whether a handshake is for a host that this server is not; absent: it is every one. */
  isForeign?: (request: Pick<Request, "url" | "headers">, address: string) => boolean;
}

/** The server's side of a listener, apart from the options of its opener. */
export interface WebSocketSurroundings {
  /** Whether the clients' connections come over TLS. */
  readonly secure: boolean;
  /** Returns the client's address for the port of its relay; null refuses it. */
  readonly peerOf: (port: number) => string | null;
  /** Called with a WebSocket and the port of its relay. */
  readonly onOpen: (opened: OpenedWebSocket, port: number) => void;
}

/** An open WebSocket. */
export interface OpenedWebSocket {
  readonly socket: WebSocket;
  readonly address: string;
  readonly binary: boolean;
  /** Whether it came over TLS. */
  readonly secure: boolean;
}

/** Headers of answers, which end a connection that does not become a WebSocket. */
const LAST_ANSWER = { headers: { Connection: "close" } } as const;

/** How long listening pauses after the runtime's server has failed. */
const PAUSE_MILLISECONDS = 100;

/**
 * Accepts WebSockets of IRC clients on a port that only relays connect to. `Deno.serve` does not
 * bound connections and time; the relays do.
 */
export class WebSocketListener {
  readonly addr: Deno.NetAddr;
  readonly #failures: AcceptFailures;
  readonly #options: WebSocketListenOptions;
  readonly #surroundings: WebSocketSurroundings;
  #server: Deno.HttpServer<Deno.NetAddr>;
  #isOpen = true;

  constructor(
    options: WebSocketListenOptions,
    surroundings: WebSocketSurroundings,
    failures: AcceptFailures,
  ) {
    this.#failures = failures;
    this.#options = options;
    this.#surroundings = surroundings;
    const { hostname, port } = options;
    this.#server = this.#listen({ hostname, port });
    this.addr = this.#server.addr;
  }

  /** Closes the port. Resolves when its WebSockets are closed too. */
  close(): Promise<void> {
    this.#isOpen = false;
    return this.#server.shutdown();
  }

  #listen(address: { hostname: string; port: number }): Deno.HttpServer<Deno.NetAddr> {
    const server = Deno.serve(
      { ...address, onListen() {}, onError: refuseHandshake },
      (request, { remoteAddr }) => this.#upgrade(request, remoteAddr.port),
    );
    server.finished.catch((error) => this.#listenAgain(error));
    return server;
  }

  /** Restarts the runtime's server, which ends when it cannot accept a connection. */
  async #listenAgain(error: unknown): Promise<void> {
    while (this.#isOpen) {
      this.#failures.report("irc websocket", error);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MILLISECONDS));
      try {
        if (this.#isOpen) this.#server = this.#listen(this.addr);
        return;
      } catch (again) {
        error = again;
      }
    }
  }

  #upgrade(request: Request, port: number): Response {
    const peer = this.#surroundings.peerOf(port);
    if (peer === null) return refusal(403, "This port is not for you.");
    if (request.headers.get("upgrade")?.toLowerCase() !== "websocket") {
      return refusal(426, "This port is for IRC over WebSocket.");
    }
    const origin = request.headers.get("origin");
    const { origins, isForeign } = this.#options;
    if (isForeign?.(request, peer)) return refusal(403, "This server does not go by this name.");
    if (origin !== null && !origins.includes(origin) && !origins.includes("*")) {
      return refusal(403, "This origin may not connect.");
    }
    const offered =
      request.headers.get("sec-websocket-protocol")?.split(",").map((name) => name.trim()) ?? [];
    const protocol = offered.find((name) => name === BINARY || name === TEXT);
    // The headers are gone once the request is upgraded.
    const address = this.#options.addressOf?.(peer, request.headers) ?? peer;
    const { socket, response } = Deno.upgradeWebSocket(
      request,
      protocol === undefined ? {} : { protocol },
    );
    const { secure, onOpen } = this.#surroundings;
    const binary = protocol === BINARY;
    socket.onopen = () => onOpen({ socket, address, binary, secure }, port);
    return response;
  }
}

/** Answers a malformed handshake, which the runtime would report as our error. */
function refuseHandshake(): Response {
  return refusal(400, "This is no WebSocket handshake.");
}

function refusal(status: number, text: string): Response {
  return new Response(`${text}\n`, { ...LAST_ANSWER, status });
}
