/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
import type { FromWorker, ToWorker } from "./worker_pool.ts";

/** The call was cancelled, and has ended before its end. */
export class Cancelled extends Error {
  override readonly name = "Cancelled";
}

/** What a call can know and tell while it runs. */
export interface ServedCall {
  /** Whether nobody waits for it any more; a call that looks throws {@linkcode Cancelled}. */
  readonly isCancelled: boolean;
  progress(progress: unknown): void;
}

/** An answer, and what of it belongs to the caller from now on. */
export class Transferred {
  readonly answer: unknown;
  readonly transfer: Transferable[];

  constructor(answer: unknown, transfer: Transferable[]) {
    this.answer = answer;
    this.transfer = transfer;
  }
}

/** Answers a call, with {@linkcode Transferred} if something of the answer is transferred. */
export type AnswerCall<Request> = (request: Request, call: ServedCall) => unknown;

/**
 * Answers the calls of a {@linkcode WorkerPool}, on the thread of a worker.
 *
 * @param open gets what the pool sets the worker up with
 */
export function serveCalls<Setup, Request>(open: (setup: Setup) => AnswerCall<Request>): void {
  let answer: AnswerCall<Request> | null = null;
  let cancelled: Int32Array = new Int32Array(1);
  const call: ServedCall = {
    get isCancelled() {
      return Atomics.load(cancelled, 0) !== 0;
    },
    progress: (progress) => post({ kind: "progress", progress }),
  };
  self.onmessage = async ({ data }: MessageEvent<ToWorker>) => {
    if (data.kind === "open") {
      cancelled = new Int32Array(data.cancelled);
      answer = open(data.setup as Setup);
      return;
    }
    try {
      const result = await answer?.(data.request as Request, call);
      if (result instanceof Transferred) {
        post({ kind: "answer", answer: result.answer }, result.transfer);
      } else post({ kind: "answer", answer: result });
    } catch (error) {
      if (error instanceof Cancelled) return post({ kind: "cancelled" });
      post({ kind: "failed", message: error instanceof Error ? error.message : String(error) });
    }
  };
  post({ kind: "ready" });
}

function post(message: FromWorker, transfer: Transferable[] = []): void {
  self.postMessage(message, transfer);
}
