/** Ports for programs that cannot choose one themselves. */
import { join } from "node:path";

/** Below the ports that Linux, macOS and Windows give to connections and to listeners on port 0. */
const FIRST = 20_000;
const LAST = 32_767;

/**
 * A port of this machine that nothing used a moment ago. No connection and no test that lets the
 * system choose can take it until its program listens. In a run of `scripts/test.ts`, no other test
 * gets it, even if its program listens late, stops for a while, or never starts.
 */
export function freePort(): number {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST + 1));
    if (isUnused(port) && reserve(port)) return port;
  }
}

function isUnused(port: number): boolean {
  try {
    using _listener = Deno.listen({ hostname: "127.0.0.1", port });
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.AddrInUse) return false;
    throw error;
  }
}

/** Makes a file for a port in the folder of this run; returns false if another test did so before. */
function reserve(port: number): boolean {
  const folder = Deno.env.get("MUSTER_TEST_PORTS");
  if (folder === undefined) return true;
  try {
    using _file = Deno.openSync(join(folder, String(port)), { write: true, createNew: true });
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) return false;
    throw error;
  }
}
