import { linesOf } from "./process_port.ts";
import type { FromWorker, ToWorker } from "./worker_pool.ts";

/**
 * Serves the calls of the process that started this one with a `ProcessPort`: a worker, which calls
 * `serveCalls`, answers them. Ends this process when the other one closes its standard input or is
 * gone, or when the worker breaks.
 *
 * @param worker it has just been started
 * @param options.onCall called with each request before its worker gets it
 * @param options.maxLine the longest message, in characters
 */
export async function serveProcess<Request>(
  worker: Worker,
  { onCall, maxLine }: {
    readonly onCall?: (request: Request) => void;
    readonly maxLine: number;
  },
): Promise<never> {
  worker.onmessage = ({ data }: MessageEvent<FromWorker>) =>
    writeAll(new TextEncoder().encode(`${JSON.stringify(data)}\n`));
  worker.onerror = (event) => {
    event.preventDefault();
    Deno.exit(1);
  };
  for await (const line of linesOf(Deno.stdin.readable, maxLine)) {
    const message: ToWorker = JSON.parse(line);
    if (message.kind === "call") onCall?.(message.request as Request);
    // Processes share no memory: to cancel a call, the other one ends this one.
    worker.postMessage(
      message.kind === "call" ? message : { ...message, cancelled: new SharedArrayBuffer(4) },
    );
  }
  Deno.exit(1);
}

function writeAll(bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length;) {
    written += Deno.stdout.writeSync(bytes.subarray(written));
  }
}
