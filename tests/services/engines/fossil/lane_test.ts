/** The main thread's side of a worker. */
import assert from "node:assert/strict";
import { Lane } from "../../../../services/engines/fossil/workers/pool.ts";
import { Watchdog } from "../../../../services/kernel/worker_pool.ts";
import { keepTimers } from "../../../support/kept_timers.ts";

/** A worker that counts its answers to jobs where another thread can see them. */
const WORKER = `
  let answers;
  self.onmessage = ({ data }) => {
    if (data instanceof Int32Array) {
      answers = data;
      self.postMessage("ready");
    }
    if (data === "begin") self.postMessage({ kind: "ready" });
    if (data.kind !== "call" || data.request.kind !== "run") return;
    const answer = { kind: "refused", code: "missing", message: "No such file" };
    self.postMessage({ kind: "answer", answer });
    Atomics.add(answers, 0, 1);
    Atomics.notify(answers, 0);
  };
`;
const SETTINGS = {
  maxOpen: 1,
  idleMs: 1000,
  settleMs: 1000,
  cacheBytes: 0,
  maxCachedBytes: 0,
  sqliteBytes: null,
};

Deno.test("an answer counts that came in time, though the main thread stood still", async () => {
  const url = URL.createObjectURL(new Blob([WORKER]));
  const worker = new Worker(url, { type: "module" });
  const answers = new Int32Array(new SharedArrayBuffer(4));
  const ready = new Promise((resolve) => worker.onmessage = resolve);
  worker.postMessage(answers);
  await ready;
  const stuck: string[] = [];
  const lane = new Lane({
    settings: SETTINGS,
    maxQueued: 1,
    graceMs: 50,
    closeMs: 1,
    lingerMs: 60_000,
    startWorker: () => worker,
    onStuck: ({ operation }) => stuck.push(operation),
  });
  const call = lane.submit("one.fossil", {
    kind: "run",
    path: "one.fossil",
    operation: "blame",
    input: { path: "a" },
    asJson: false,
    limitMs: 50,
    wantsProgress: false,
  });
  // It may be refused before this thread looks again.
  call.catch(() => {});
  worker.postMessage("begin");
  while (!lane.load.running && Atomics.load(answers, 0) === 0) {
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
  Atomics.wait(answers, 0, 0);
  Atomics.wait(answers, 0, 1, 500);
  await assert.rejects(call, /No such file/);
  assert.deepEqual(stuck, []);
  await lane.close();
  URL.revokeObjectURL(url);
});

Deno.test("a timer that runs although it was cleared interrupts no other job", async () => {
  let interrupt = new Int32Array(new SharedArrayBuffer(4));
  const worker = {
    onmessage: (_event: MessageEvent) => {},
    onerror: null,
    postMessage: (message: { readonly kind: string; readonly cancelled: SharedArrayBuffer }) => {
      if (message.kind === "open") interrupt = new Int32Array(message.cancelled);
    },
    terminate: () => {},
  };
  const lane = new Lane({
    settings: SETTINGS,
    maxQueued: 9,
    graceMs: 50,
    closeMs: 1,
    lingerMs: 60_000,
    startWorker: () => worker as unknown as Worker,
  });
  const submit = (move: (() => Promise<unknown>) | null) => {
    const result = lane.submit("one.fossil", { kind: "open", path: "one.fossil" }, {}, move);
    result.catch(() => {});
    return result;
  };
  keepTimers((timers) => {
    // The first may move, and keeps others waiting; it ends in the turn in which its time is up.
    submit(() => Promise.resolve());
    submit(null);
    submit(null);
    worker.onmessage(new MessageEvent("message", { data: { kind: "ready" } }));
    const patience = timers.at(-1);
    const refused = { kind: "refused", code: "missing", message: "No such file" } as const;
    worker.onmessage(new MessageEvent("message", { data: { kind: "answer", answer: refused } }));
    patience?.();
    assert.equal(Atomics.load(interrupt, 0), 0);
  });
  await lane.close();
});

Deno.test("a watchdog that was called off says nothing, though its timer runs", () => {
  keepTimers((timers) => {
    let silences = 0;
    const runLast = () => timers.at(-1)?.();
    new Watchdog(10, () => silences++);
    while (silences === 0) runLast();
    const steps = timers.length;
    const late = new Watchdog(10, () => silences++);
    while (timers.length < 2 * steps) runLast();
    late.stop();
    runLast();
    assert.equal(silences, 1);
  });
});
