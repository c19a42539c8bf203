/**
 * The process of a query, which a thread of it runs. It ends at its time limit, and at once when its
 * parent is gone, because the system then closes standard input.
 */
import { getPriority, setPriority } from "node:os";
import process from "node:process";
import { longestFor } from "../computing_time.ts";
import { serveProcess } from "../../../kernel/serve_process.ts";
import { MAX_LINE, type QueryRequest } from "./types.ts";

/** How much nicer than muster it is: it gets what the server leaves over. */
const NICER = 10;
const NICEST = 19;

/** How often it looks whether its time is over, at most, in milliseconds. */
const LOOK_MS = 10;

/** What the process needs no more once its worker has started. */
const DROPPED = ["net", "write", "env", "sys", "run", "ffi"] as const;

/** Runs the process; never returns. */
export async function runQueryProcess(): Promise<never> {
  giveWay();
  const worker = new Worker(new URL("./query_worker.ts", import.meta.url), {
    type: "module",
    name: "query",
  });
  for (const name of DROPPED) Deno.permissions.revokeSync({ name });
  return await serveProcess<QueryRequest>(worker, {
    onCall: ({ limits }) => endAfter(limits.milliseconds),
    maxLine: MAX_LINE,
  });
}

/**
 * Ends the process once it has computed for so many milliseconds, or the clock has gone on by
 * {@link longestFor} so many: it gets what others leave over.
 */
function endAfter(milliseconds: number): void {
  const before = process.cpuUsage();
  const end = performance.now() + longestFor(milliseconds);
  const look = () => {
    const { user, system } = process.cpuUsage(before);
    const left = Math.min(milliseconds - (user + system) / 1000, end - performance.now());
    if (left <= 0) Deno.exit(1);
    setTimeout(look, Math.max(left, LOOK_MS));
  };
  look();
}

function giveWay(): void {
  try {
    setPriority(0, Math.min(NICEST, getPriority(0) + NICER));
  } catch {
    // Not permitted here; continue without it.
  }
}
