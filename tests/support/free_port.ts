/** Ports for programs that cannot choose one themselves. */

/** Below the ports that Linux, macOS and Windows give to connections and to listeners on port 0. */
const FIRST = 20_000;
const LAST = 32_767;

/**
 * A port of this machine that nothing used a moment ago. No connection and no test that lets the
 * system choose can take it until its program listens.
 */
export function freePort(): number {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST + 1));
    try {
      using _listener = Deno.listen({ hostname: "127.0.0.1", port });
      return port;
    } catch (error) {
      if (!(error instanceof Deno.errors.AddrInUse)) throw error;
    }
  }
}
