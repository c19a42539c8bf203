/** A thread that runs workers, one after the other; see `borrowed_workers.ts`. */
/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
import { getPriority, setPriority } from "node:os";
import { END, IDLE, LOADED, type ThreadRequest } from "./borrowed_workers.ts";

const priority = getPriority(0);

/** Runs the worker of the next message. */
function serve(): void {
  self.onmessage = async ({ data: { module, handled } }: MessageEvent<ThreadRequest>) => {
    const early: MessageEvent<unknown>[] = [];
    self.onmessage = (event: MessageEvent<unknown>) => void early.push(event);
    await import(module);
    const handle = self.onmessage;
    const take = async (event: MessageEvent<unknown>) => {
      if (event.data === END) return end();
      await handle?.call(self as unknown as DedicatedWorkerGlobalScope, event);
      Atomics.add(handled, 0, 1);
      Atomics.notify(handled, 0);
    };
    self.onmessage = take;
    self.postMessage(LOADED);
    for (const event of early) void take(event);
  };
}

/** Gives the thread the priority that it had, and waits for the next worker. */
function end(): void {
  try {
    if (getPriority(0) !== priority) setPriority(0, priority);
  } catch {
    // Only root may raise a priority.
    return self.postMessage(END);
  }
  serve();
  self.postMessage(IDLE);
}

// The end of a worker is not that of its thread.
Object.assign(self, { close: () => {} });
serve();
