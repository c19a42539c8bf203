/** Subprotocols of the IRCv3 document "websocket": lines as binary messages, or as text. */
const BINARY = "binary.ircv3.net";
const TEXT = "text.ircv3.net";

export interface WebSocketListenOptions {
  hostname: string;
  /** 0 takes a free one. */
  port: number;
  /**
   * Origins of web pages that may connect, or `*` for all. Clients that are no browsers name none
   * and always may.
   */
  origins: readonly string[];
  /** Certificate chain and key in PEM; absent for plain TCP. */
  tls?: { cert: string; key: string };
  /** Addresses of those whose connections begin with a header of the PROXY protocol. */
  proxies?: readonly string[];
  /** The client's address, given the one of the connection and the request's headers. */
  addressOf?: (address: string, headers: Headers) => string;
}

/** What a listener is told beside what whoever opens it wants. */
export interface WebSocketSurroundings {
  /** Whether the clients' connections come over TLS. */
  readonly secure: boolean;
  /** The address of a connection, given that of the socket; null refuses it. */
  readonly peerOf: (socket: Deno.NetAddr) => string | null;
  readonly onOpen: (opened: OpenedWebSocket) => void;
}

/** A WebSocket that is open. */
export interface OpenedWebSocket {
  readonly socket: WebSocket;
  readonly address: string;
  readonly binary: boolean;
  /** Whether it came over TLS. */
  readonly secure: boolean;
}

/** Takes WebSockets of IRC clients on a port of its own. */
export class WebSocketListener {
  readonly addr: Deno.NetAddr;
  readonly #options: WebSocketListenOptions;
  readonly #surroundings: WebSocketSurroundings;
  readonly #server: Deno.HttpServer<Deno.NetAddr>;

  constructor(options: WebSocketListenOptions, surroundings: WebSocketSurroundings) {
    this.#options = options;
    this.#surroundings = surroundings;
    const { hostname, port } = options;
    this.#server = Deno.serve(
      { hostname, port, onListen() {}, onError: refuseHandshake },
      (request, { remoteAddr }) => this.#upgrade(request, surroundings.peerOf(remoteAddr)),
    );
    this.addr = this.#server.addr;
  }

  /** Closes the port. Resolves when the WebSockets that it opened are closed too. */
  close(): Promise<void> {
    return this.#server.shutdown();
  }

  #upgrade(request: Request, peer: string | null): Response {
    if (peer === null) return new Response("This port is not for you.\n", { status: 403 });
    if (request.headers.get("upgrade")?.toLowerCase() !== "websocket") {
      return new Response("This port is for IRC over WebSocket.\n", { status: 426 });
    }
    const origin = request.headers.get("origin");
    const { origins } = this.#options;
    if (origin !== null && !origins.includes(origin) && !origins.includes("*")) {
      return new Response("This origin may not connect.\n", { status: 403 });
    }
    const offered = request.headers.get("sec-websocket-protocol")?.split(/\s*,\s*/) ?? [];
    const protocol = offered.find((name) => name === BINARY || name === TEXT);
    // The headers are gone once the request is upgraded.
    const address = this.#options.addressOf?.(peer, request.headers) ?? peer;
    const { socket, response } = Deno.upgradeWebSocket(
      request,
      protocol === undefined ? {} : { protocol },
    );
    const { secure, onOpen } = this.#surroundings;
    socket.onopen = () => onOpen({ socket, address, binary: protocol === BINARY, secure });
    return response;
  }
}

/** Answers what only looks like a handshake; the runtime would report it as a fault of ours. */
function refuseHandshake(): Response {
  return new Response("This is no WebSocket handshake.\n", { status: 400 });
}
