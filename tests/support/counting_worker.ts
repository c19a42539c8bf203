/** A worker that counts its messages, and the workers that its thread has run. */
/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
import { getPriority, setPriority } from "node:os";

/** What a thread keeps. */
const thread = globalThis as { workers?: number; priority?: number };
thread.workers = (thread.workers ?? 0) + 1;
thread.priority ??= getPriority(0);
if (Deno.build.os === "linux") setPriority(0, Math.min(19, getPriority(0) + 5));

let messages = 0;

self.onmessage = ({ data }: MessageEvent<unknown>) => {
  messages += 1;
  if (data instanceof Uint8Array) self.postMessage(new Uint8Array([...data, messages - 1]));
  if (data instanceof Int32Array) {
    Atomics.store(data, 0, messages);
    Atomics.notify(data, 0);
  }
  if (data === "fail") throw new Error("It has failed");
  if (data === "count" || data === "hang") {
    const nicer = getPriority(0) - (thread.priority ?? 0);
    self.postMessage({ messages, workers: thread.workers, nicer });
  }
  if (data === "hang") Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
};
