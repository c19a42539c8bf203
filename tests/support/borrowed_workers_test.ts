import assert from "node:assert/strict";
import { getPriority } from "node:os";
import { BorrowedWorker, Threads } from "./borrowed_workers.ts";
import { WAIT_LIMIT } from "./until.ts";

const MODULE = new URL("counting_worker.ts", import.meta.url).href;

/** How much lower the priority is that a worker gives itself: 19 is the lowest. */
const NICER = Deno.build.os === "linux" ? Math.min(5, 19 - getPriority()) : 0;

/** The next answer of a worker. */
function answerOf(worker: BorrowedWorker): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  worker.onmessage = ({ data }) => resolve(data);
  worker.onerror = (event) => {
    event.preventDefault();
    reject(new Error(event.message));
  };
  return promise;
}

async function ask(worker: BorrowedWorker, message: unknown): Promise<unknown> {
  const answer = answerOf(worker);
  worker.postMessage(message);
  return await answer;
}

/** Starts a worker once the threads of those before have come back. */
async function start(threads: Threads): Promise<BorrowedWorker> {
  await threads.settled();
  return new BorrowedWorker(threads, MODULE, { type: "module" });
}

Deno.test("a worker begins anew in the thread of one that has ended, at its priority", async () => {
  const threads = new Threads();
  const first = await start(threads);
  assert.deepEqual(await ask(first, "count"), { messages: 1, workers: 1, nicer: NICER });
  assert.deepEqual(await ask(first, "count"), { messages: 2, workers: 1, nicer: NICER });
  first.terminate();
  const second = await start(threads);
  assert.deepEqual(await ask(second, "count"), {
    messages: 1,
    // Only root may give a thread its priority back.
    workers: Deno.uid() === 0 || NICER === 0 ? 2 : 1,
    nicer: NICER,
  });
  const beside = await start(threads);
  assert.deepEqual(await ask(beside, "count"), { messages: 1, workers: 1, nicer: NICER });
  for (const worker of [second, beside]) worker.terminate();
  await threads.close();
});

Deno.test("a worker that is busy at its end, or fails, takes its thread with it", async () => {
  const threads = new Threads();
  const busy = await start(threads);
  await ask(busy, "count");
  await ask(busy, "hang");
  busy.terminate();
  const failing = await start(threads);
  assert.deepEqual(await ask(failing, "count"), { messages: 1, workers: 1, nicer: NICER });
  await assert.rejects(ask(failing, "fail"), /It has failed/);
  failing.terminate();
  const last = await start(threads);
  assert.deepEqual(await ask(last, "count"), { messages: 1, workers: 1, nicer: NICER });
  last.terminate();
  await threads.close();
});

Deno.test("a worker that is not loaded yet works for a thread that waits for it", async () => {
  const threads = new Threads();
  const worker = await start(threads);
  const memory = new Int32Array(new SharedArrayBuffer(4));
  worker.postMessage(memory);
  assert.notEqual(Atomics.wait(memory, 0, 0, WAIT_LIMIT), "timed-out");
  worker.terminate();
  await threads.close();
});

Deno.test("messages to a worker that is not loaded yet come in order, and transfer what they hold", async () => {
  const threads = new Threads();
  const worker = await start(threads);
  const answer = answerOf(worker);
  const bytes = new Uint8Array([1, 2, 3]);
  worker.postMessage("quiet");
  worker.postMessage(bytes, [bytes.buffer]);
  assert.equal(bytes.length, 0);
  assert.deepEqual(await answer, new Uint8Array([1, 2, 3, 1]));
  worker.terminate();
  await threads.close();
});
