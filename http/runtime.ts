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
 * @throws Error if this runtime has none
 */
export function findServeConnection(): ServeConnection {
  const symbol: unknown = Reflect.get(Deno, "internal");
  const internals: unknown = typeof symbol === "symbol" ? Reflect.get(Deno, symbol) : undefined;
  const found: unknown = typeof internals === "object" && internals !== null
    ? Reflect.get(internals, "serveHttpOnConnection")
    : undefined;
  if (typeof found !== "function") {
    throw new Error(`Deno ${Deno.version.deno} cannot serve HTTP on a connection of its own`);
  }
  return found as ServeConnection;
}
