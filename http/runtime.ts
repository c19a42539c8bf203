import { closeQuietly } from "../services/kernel/body_until.ts";

/** A connection served by the runtime. */
export interface ServedConnection {
  /** Settles when the connection is closed, or was upgraded to another protocol. */
  readonly finished: Promise<void>;
  /** Lets the running requests finish, then closes the connection. */
  shutdown(): Promise<void>;
}

/** What the runtime passes along with a request. */
export interface RequestInfo {
  /** Settles when the answer has been sent, or the client is gone. */
  readonly completed: Promise<void>;
}

/** What the runtime uses of a signal. */
export interface CutSignal {
  addEventListener(
    type: "abort",
    listener: (event: Event) => void,
    options?: AddEventListenerOptions,
  ): void;
}

/**
 * A signal for the runtime. Its listener throws `BadResource` if the runtime is closing the
 * connection already. No caller could catch that, and nothing is left to cut.
 */
export function cutSignal(signal: AbortSignal): CutSignal {
  return {
    addEventListener: (type, listener, options) => {
      signal.addEventListener(type, (event) => {
        try {
          listener(event);
        } catch (error) {
          if (!(error instanceof Deno.errors.BadResource)) throw error;
        }
      }, options);
    },
  };
}

/**
 * Serves HTTP/1.1 and HTTP/2 on one connection, with or without TLS.
 *
 * @param signal closes the connection when it aborts
 */
export type ServeConnection = (
  conn: Deno.Conn,
  signal: CutSignal,
  handler: (request: Request, info: RequestInfo) => Response | Promise<Response>,
  onError: (error: unknown) => Response,
  onListen: () => void,
) => ServedConnection;

/**
 * Finds the runtime's HTTP server for single connections. `Deno.serve` accepts connections itself:
 * it ends when it cannot (`Too many open files`), and has neither bounds nor timeouts. It uses this
 * same server for each connection; `Deno.internal` exposes it from Deno 2.4 to 2.9 at least.
 *
 * @returns null if this runtime has none
 */
export function findServeConnection(): ServeConnection | null {
  const symbol: unknown = Reflect.get(Deno, "internal");
  const internals: unknown = typeof symbol === "symbol" ? Reflect.get(Deno, symbol) : undefined;
  const found: unknown = typeof internals === "object" && internals !== null
    ? Reflect.get(internals, "serveHttpOnConnection")
    : undefined;
  return typeof found === "function" ? found as ServeConnection : null;
}

/** What it means if the runtime has no server for single connections. */
export const WITHOUT_SERVER =
  "This Deno has no server for single connections: each takes a socket and several times the work";

/** How long a connection of this process to itself may take, in milliseconds. */
const PROBE_MILLISECONDS = 5000;

/**
 * Finds what serves connections: the runtime's own server for them, if it answers a request, and
 * otherwise {@linkcode serveBehind}.
 *
 * @param found the runtime's own server; null if it has none
 */
export async function chooseServeConnection(
  found: ServeConnection | null = findServeConnection(),
): Promise<{ readonly serve: ServeConnection; readonly isOwn: boolean }> {
  const isOwn = found !== null && await answers(found);
  return { serve: isOwn ? found : serveBehind, isOwn };
}

/** Whether a server of connections answers a request. */
async function answers(serve: ServeConnection): Promise<boolean> {
  const cut = new AbortController();
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const accepted = listener.accept();
  const client = await Deno.connect({ hostname: "127.0.0.1", port: listener.addr.port });
  // What is closed in the middle of a read ends it.
  const timer = setTimeout(() => client.close(), PROBE_MILLISECONDS);
  try {
    const answer = () => new Response(null, { status: 204 });
    const conn = await accepted;
    const { finished } = serve(conn, cutSignal(cut.signal), answer, answer, () => {});
    finished.catch(() => {});
    await client.write(new TextEncoder().encode("GET / HTTP/1.1\r\nHost: probe\r\n\r\n"));
    const bytes = new Uint8Array(64);
    const length = await client.read(bytes) ?? 0;
    return new TextDecoder().decode(bytes.subarray(0, length)).startsWith("HTTP/1.1 204");
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
    closeQuietly(client);
    cut.abort();
  }
}

/**
 * Serves a connection by `Deno.serve`, which needs a listener: a socket in a folder of its own, for
 * this one connection, whose bytes are copied. It costs a multiple of the time and memory, and needs
 * Unix sockets.
 */
export function serveBehind(
  conn: Deno.Conn,
  signal: CutSignal,
  handler: Parameters<ServeConnection>[2],
  onError: (error: unknown) => Response,
): ServedConnection {
  const folder = Deno.makeTempDirSync({ prefix: "muster-http-" });
  const path = `${folder}/socket`;
  const onListen = () => {};
  const server = Deno.serve({ path, onListen, onError }, handler);
  const close = () => closeQuietly(conn);
  signal.addEventListener("abort", close);
  const copy = async () => {
    try {
      using inner = await Deno.connect({ transport: "unix", path });
      await Deno.remove(folder, { recursive: true });
      const incoming = conn.readable.pipeTo(inner.writable, { preventCancel: true });
      await Promise.allSettled([incoming, inner.readable.pipeTo(conn.writable)]);
    } finally {
      close();
      await server.shutdown();
    }
  };
  return { finished: copy(), shutdown: () => server.shutdown() };
}
