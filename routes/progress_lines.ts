import { ServiceError } from "../services/kernel/errors.ts";
import type { Log } from "../services/kernel/log.ts";

/** Long work that reports its progress to a client. */
export interface ReportedWork {
  readonly log: Log;
  readonly requestId: string;
  /** Aborts the work, for instance when the client disconnects. */
  readonly signal: AbortSignal;
  work(options: {
    readonly signal: AbortSignal;
    onProgress(done: number, total: number | null): void;
  }): Promise<unknown>;
}

/** Pause between two lines, in milliseconds. */
const INTERVAL_MS = 200;

/**
 * The answer to a long request, as lines of JSON: `{done, total}` from time to time, and at the end
 * the result or `{error}`.
 */
export function progressLines(
  { log, requestId, signal, work }: ReportedWork,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const cancelled = new AbortController();
  const encoder = new TextEncoder();
  return new ReadableStream({
    start(controller) {
      const write = (line: unknown) => {
        if (cancelled.signal.aborted) return;
        controller.enqueue(encoder.encode(`${JSON.stringify(line)}\n`));
      };
      let last = -Infinity;
      const onProgress = (done: number, total: number | null) => {
        const now = performance.now();
        if (now - last < INTERVAL_MS) return;
        last = now;
        write({ done, total });
      };
      const options = { signal: AbortSignal.any([signal, cancelled.signal]), onProgress };
      const end = (line: unknown) => {
        write(line);
        if (!cancelled.signal.aborted) controller.close();
      };
      work(options).then(end, (error: unknown) => {
        if (error instanceof ServiceError) return end({ error: error.message });
        if (!options.signal.aborted) {
          log.error("A request failed on a bug", { requestId, error });
        }
        end({ error: `internal error (${requestId})` });
      });
    },
    cancel: () => cancelled.abort(),
  });
}
