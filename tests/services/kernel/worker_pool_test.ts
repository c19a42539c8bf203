import assert from "node:assert/strict";
import fc from "fast-check";
import {
  type FromWorker,
  type ToWorker,
  WorkerPool,
  type WorkerPort,
} from "../../../services/kernel/worker_pool.ts";
import { TestScheduler } from "../../support/scheduler.ts";
import type { TestRequest } from "./calls_worker.ts";

const ERRORS = {
  full: () => new RangeError("full"),
  lost: (reason: string) => new Error(`lost: ${reason}`),
  unusable: () => new Error("unusable"),
  closed: () => new Error("closed"),
};

/** A worker that does what the test says. */
class FakeWorker implements WorkerPort {
  onmessage: WorkerPort["onmessage"] = null;
  onerror: WorkerPort["onerror"] = null;
  isReady = false;
  isEnded = false;
  running: number | null = null;
  hasReceived = true;
  isExhausted = false;
  #cancelled: Int32Array = new Int32Array(1);
  #call = 0;
  readonly #begun: (request: number) => void;

  constructor(begun: (request: number) => void) {
    this.#begun = begun;
  }

  postMessage(message: ToWorker): void {
    if (message.kind === "open") {
      assert.ok(message.cancelled !== null);
      this.#cancelled = new Int32Array(message.cancelled);
    } else if (message.request === "unsendable") throw new TypeError("unsendable");
    else {
      assert.equal(this.running, null, "a worker has one call at a time");
      assert.equal(this.isReady, true);
      this.#call = message.number;
      this.running = Number(message.request);
      this.#begun(this.running);
    }
  }

  get isCancelled(): boolean {
    return this.#cancelled[0] === this.#call;
  }

  send(data: FromWorker): void {
    if (data.kind === "ready") this.isReady = true;
    else this.running = null;
    this.onmessage?.call(this as unknown as Worker, new MessageEvent("message", { data }));
  }

  break(): void {
    const event = new ErrorEvent("error", { message: "broken", cancelable: true });
    this.onerror?.call(this as unknown as Worker, event);
  }

  terminate(): void {
    this.isEnded = true;
  }
}

/** Whether a call of the model may be repeated. */
const reads = (call: number) => call % 2 === 0;

Deno.test("calls of workers end as their model says", async () => {
  const act = fc.record({
    kind: fc.constantFrom(
      "call",
      "call",
      "unsendable",
      "ready",
      "answer",
      "break",
      "break",
      "abort",
      "late",
    ),
    key: fc.constantFrom("a", "b"),
    index: fc.nat(5),
    hasReceived: fc.boolean(),
    isExhausted: fc.boolean(),
  });
  const bounds = fc.record({
    workers: fc.integer({ min: 1, max: 3 }),
    maxWaiting: fc.integer({ min: 1, max: 4 }),
  });
  await fc.assert(
    fc.asyncProperty(bounds, fc.array(act, { maxLength: 40 }), async (bounds, acts) => {
      const scheduler = new TestScheduler();
      const workers: FakeWorker[] = [];
      const begun: number[] = [];
      const pool = new WorkerPool<number | string, number>({
        ...ERRORS,
        ...bounds,
        start: () => {
          workers.push(new FakeWorker((request) => begun.push(request)));
          return workers.at(-1)!;
        },
        mayRepeat: (request) => reads(Number(request)),
        now: scheduler.now,
        after: (ms, task) => scheduler.after(ms, task),
      });
      const gone = new Map<number, AbortController>();
      const keys = new Map<number, string>();
      const ends = new Map<number, string>();
      const expected = new Map<number, string>();
      /** Calls that are made again. */
      const again = new Set<number>();
      let failedStarts = 0;
      const live = () => workers.filter(({ isEnded }) => !isEnded);
      const running = () => live().filter(({ running }) => running !== null);
      const waiting = () =>
        [...keys.keys()].filter((name) => {
          if (expected.has(name)) return false;
          return !begun.includes(name) ||
            again.has(name) && begun.lastIndexOf(name) === begun.indexOf(name);
        });
      const answer = (worker: FakeWorker) => {
        const name = worker.running ?? 0;
        expected.set(name, worker.isCancelled ? "AbortError" : `answer ${name}`);
        if (worker.isCancelled) worker.send({ kind: "cancelled" });
        else worker.send({ kind: "answer", answer: name });
      };
      for (const [name, { kind, key, index, hasReceived, isExhausted }] of acts.entries()) {
        if (kind === "call" || kind === "unsendable") {
          const isIdle = live().some(({ isReady, running }) => isReady && running === null);
          const spare = bounds.workers - running().length;
          const isFull = waiting().length >= bounds.maxWaiting + spare;
          const request = kind === "call" ? name : "unsendable";
          const controller = new AbortController();
          if (kind === "unsendable" && !isIdle) continue;
          keys.set(name, key);
          if (kind === "unsendable") expected.set(name, "unsendable");
          else if (isFull) expected.set(name, "full");
          gone.set(name, controller);
          const { signal } = controller;
          pool.call(request, { key, signal, limitMs: 100 }).then(
            (answer) => ends.set(name, `answer ${answer}`),
            (error) => ends.set(name, error.name === "AbortError" ? error.name : error.message),
          );
        } else if (kind === "ready") {
          const worker = live().find(({ isReady }) => !isReady);
          if (worker !== undefined) failedStarts = 0;
          worker?.send({ kind: "ready" });
        } else if (kind === "answer") {
          const worker = running()[index % running().length];
          if (worker !== undefined) answer(worker);
        } else if (kind === "break") {
          const worker = live()[index % live().length];
          if (worker === undefined) continue;
          const call = worker.running;
          const isSafe = call !== null && (!hasReceived || reads(call));
          if (call !== null && isSafe && !isExhausted && !again.has(call) && !worker.isCancelled) {
            again.add(call);
            worker.running = null;
          } else if (call !== null) {
            expected.set(call, "lost: broken");
          }
          if (!worker.isReady) failedStarts++;
          if (!worker.isReady && !live().some(({ isReady }) => isReady) && failedStarts >= 3) {
            failedStarts = 0;
            for (const name of waiting()) expected.set(name, "unusable");
          }
          Object.assign(worker, { hasReceived, isExhausted });
          worker.break();
          assert.equal(worker.isEnded, true);
        } else if (kind === "abort") {
          const open = [...keys.keys()].filter((name) => !expected.has(name));
          const one = open[index % open.length];
          if (one === undefined) continue;
          if (waiting().includes(one)) expected.set(one, "AbortError");
          gone.get(one)?.abort();
        } else {
          // Those that begin meanwhile have time of their own.
          for (const { running: name } of running()) {
            if (name !== null) expected.set(name, "lost: It does not answer");
          }
          scheduler.advance(100);
        }
        assert.deepEqual(pool.load, { running: running().length, queued: waiting().length });
        assert.ok(live().length <= bounds.workers);
      }
      // The calls that are left are innocent, and get an answer.
      while (running().length + waiting().length > 0) {
        for (const worker of live()) {
          if (!worker.isReady) worker.send({ kind: "ready" });
          else if (worker.running !== null) answer(worker);
        }
      }
      await new Promise((resolve) => setTimeout(resolve, 0));
      assert.deepEqual([...ends].sort(), [...expected].sort());
      for (const key of ["a", "b"]) {
        const ofKey = begun.filter((name) => keys.get(name) === key && !again.has(name));
        assert.deepEqual(ofKey, ofKey.toSorted((one, other) => one - other), "in their order");
      }
      pool.close();
      assert.equal(live().length, 0);
      await assert.rejects(pool.call(0), /closed/);
    }),
    { numRuns: 200 },
  );
});

Deno.test("a call that keeps others waiting moves, if it may", async () => {
  const worker = new FakeWorker(() => {});
  const pool = new WorkerPool<number, string>({ ...ERRORS, start: () => worker, patienceMs: 0 });
  const moved = pool.call(1, { move: () => Promise.resolve("elsewhere") });
  worker.send({ kind: "ready" });
  const other = pool.call(2);
  while (!worker.isCancelled) await new Promise((resolve) => setTimeout(resolve, 0));
  worker.send({ kind: "cancelled" });
  assert.equal(await moved, "elsewhere");
  worker.send({ kind: "answer", answer: "here" });
  assert.equal(await other, "here");
  pool.close();
});

Deno.test("the key with most calls makes room, if the pool says so", async () => {
  const pool = new WorkerPool<string, string>({
    ...ERRORS,
    start: () => new FakeWorker(() => {}),
    maxWaiting: 2,
    displaces: true,
  });
  const calls = ["a", "a", "a", "b", "a"].map((key) =>
    pool.call(key, { key }).catch((error) => error.message)
  );
  pool.close();
  assert.deepEqual(await Promise.all(calls), ["closed", "closed", "full", "closed", "full"]);
});

Deno.test("if no worker can start, each call tells why", async () => {
  const pool = new WorkerPool<number, number>({
    ...ERRORS,
    start: () => {
      throw new Error("no thread");
    },
  });
  await assert.rejects(pool.call(1), /no thread/);
  await assert.rejects(pool.call(2), /no thread/);
});

Deno.test("workers that break before they are ready are not started again and again", async () => {
  const workers: FakeWorker[] = [];
  const pool = new WorkerPool<number, number>({
    ...ERRORS,
    start: () => {
      workers.push(new FakeWorker(() => {}));
      return workers.at(-1)!;
    },
    workers: 2,
  });
  const calls = [1, 2, 3].map((one) => pool.call(one).catch((error) => error.message));
  for (const worker of workers) worker.break();
  assert.deepEqual(await Promise.all(calls), ["unusable", "unusable", "unusable"]);
  assert.equal(workers.length, 4);
});

Deno.test("an idle worker ends, and the next call starts another one", () => {
  const scheduler = new TestScheduler();
  const workers: FakeWorker[] = [];
  const pool = new WorkerPool<number, number>({
    ...ERRORS,
    start: () => {
      workers.push(new FakeWorker(() => {}));
      return workers.at(-1)!;
    },
    idleMs: 1000,
    after: (ms, task) => scheduler.after(ms, task),
  });
  void pool.call(1);
  workers[0]?.send({ kind: "ready" });
  scheduler.advance(5000);
  assert.equal(workers[0]?.isEnded, false);
  workers[0]?.send({ kind: "answer", answer: 1 });
  scheduler.advance(999);
  assert.equal(workers[0]?.isEnded, false);
  scheduler.advance(1);
  assert.equal(workers[0]?.isEnded, true);
  assert.equal(pool.isStarted, false);
  pool.call(2).catch(() => {});
  assert.equal(workers.length, 2);
  pool.close();
});

Deno.test("a worker that has been idle makes its last call, although its idle time ends meanwhile", async () => {
  const scheduler = new TestScheduler();
  const worker = new FakeWorker(() => {});
  const pool = new WorkerPool<number, number>({
    ...ERRORS,
    start: () => worker,
    idleMs: 1000,
    after: (ms, task) => scheduler.after(ms, task),
  });
  const call = pool.call(1);
  worker.send({ kind: "ready" });
  worker.send({ kind: "answer", answer: 1 });
  await call;
  const closed = pool.closeAfter(2, 5000);
  scheduler.advance(1000);
  assert.equal(worker.isEnded, false);
  worker.send({ kind: "answer", answer: 2 });
  await closed;
  assert.equal(worker.isEnded, true);
});

Deno.test("a cancelled call ends its worker, if the pool says so, and the next one gets another", async () => {
  const workers: FakeWorker[] = [];
  const pool = new WorkerPool<number, string>({
    ...ERRORS,
    start: () => {
      workers.push(new FakeWorker(() => {}));
      return workers.at(-1)!;
    },
    cancelEnds: true,
  });
  const gone = new AbortController();
  const cancelled = pool.call(1, { signal: gone.signal });
  const other = pool.call(2);
  workers[0]?.send({ kind: "ready" });
  gone.abort();
  await assert.rejects(cancelled, { name: "AbortError" });
  assert.equal(workers[0]?.isEnded, true);
  workers[1]?.send({ kind: "ready" });
  workers[1]?.send({ kind: "answer", answer: "done" });
  assert.equal(await other, "done");
  pool.close();
});

Deno.test("a worker answers, fails, transfers, looks whether it is cancelled, and is replaced", async () => {
  const pool = new WorkerPool<TestRequest, unknown>({
    ...ERRORS,
    start: () => new Worker(new URL("./calls_worker.ts", import.meta.url), { type: "module" }),
    setup: 10,
  });
  const seen: unknown[] = [];
  assert.equal(await pool.call(["add", 1], { onProgress: (one) => seen.push(one) }), 11);
  assert.deepEqual(seen, [1]);
  await assert.rejects(pool.call(["fail", 2]), /^Error: not 2$/);
  assert.deepEqual(await pool.call(["transfer", 3]), new Uint8Array(3));
  const gone = new AbortController();
  const cancelled = pool.call(["wait", 0], {
    signal: gone.signal,
    onProgress: () => gone.abort(),
  });
  await assert.rejects(cancelled, { name: "AbortError" });
  const lost = assert.rejects(pool.call(["break", 0]), /lost: .*broken/);
  assert.equal(await pool.call(["add", 2]), 12, "the next worker makes the call that waited");
  await lost;
  const last = pool.call(["wait", 0], { onProgress: () => void closing.resolve() });
  const closing = Promise.withResolvers<void>();
  const closed = assert.rejects(last, /closed/);
  await closing.promise;
  await pool.closeAfter(["add", 0], 60_000);
  await closed;
});

Deno.test("a worker that cannot start is told of once a minute", async () => {
  const scheduler = new TestScheduler();
  const told: string[] = [];
  let start = (): FakeWorker => {
    throw new Error("no process", { cause: new Error("not permitted") });
  };
  const pool = new WorkerPool<number, number>({
    ...ERRORS,
    start: () => start(),
    onUnusable: (reason) => told.push(reason),
    now: scheduler.now,
    after: (ms, task) => scheduler.after(ms, task),
  });
  const refused = async () => assert.ok((await pool.call(1).catch(({ message }) => message)) !== 1);
  for (let count = 0; count < 3; count++) await refused();
  assert.deepEqual(told, ["no process: not permitted"]);

  scheduler.advance(60_000);
  start = () => {
    const worker = new FakeWorker(() => {});
    queueMicrotask(() => worker.break());
    return worker;
  };
  for (let count = 0; count < 3; count++) await refused();
  assert.deepEqual(told, ["no process: not permitted", "broken"]);
});
