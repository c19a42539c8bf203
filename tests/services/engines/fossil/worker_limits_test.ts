import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import {
  encodeUtf8,
  type PooledRepository,
  Repository,
} from "../../../../services/engines/fossil/mod.ts";
import { commit, DATE, exists, refused, withPool } from "./support/pools.ts";
import { THOROUGH } from "../../../support/level.ts";

Deno.test("a queue is bounded", async () => {
  await withPool({ maxQueued: 2 }, async (pool, repository) => {
    const calls = [1, 2, 3].map(() => repository.statistics());
    assert.deepEqual(pool.load, { repositories: 1, running: 1, queued: 2 });
    await refused("unavailable", repository.statistics());
    await Promise.all(calls);
    await repository.statistics();
  });
});

Deno.test("a call that is cancelled while it waits never runs", async () => {
  await withPool({}, async (_, repository) => {
    const controller = new AbortController();
    const running = repository.statistics();
    const waiting = repository.addUser(
      { login: "bob", capabilities: "v", password: null },
      { signal: controller.signal },
    );
    controller.abort(new Error("gone"));
    await assert.rejects(waiting, /gone/);
    await assert.rejects(repository.statistics(undefined, { signal: controller.signal }), /gone/);
    await running;
    assert.equal(
      await repository.addUser({ login: "bob", capabilities: "v", password: null }),
      true,
    );
  });
});

Deno.test(
  "a long call reports its progress, and stops when it is cancelled",
  THOROUGH,
  async () => {
    await withPool({}, async (_, repository) => {
      const { uuid } = await repository.resolveCheckin("trunk");
      await repository.commit({
        user: "alice",
        date: DATE + 1000,
        parent: uuid,
        comment: "many files",
        changes: Array.from({ length: 3000 }, (_, index) => ({
          kind: "write" as const,
          path: `file ${index}`,
          content: encodeUtf8(`content of file ${index}`),
        })),
      });
      const controller = new AbortController();
      const steps: number[] = [];
      const rebuild = repository.rebuild(undefined, {
        signal: controller.signal,
        onProgress(done, total) {
          assert.ok(total !== null && done <= total);
          steps.push(done);
          controller.abort(new Error("enough"));
        },
      });
      await assert.rejects(rebuild, /enough/);
      assert.ok(steps.length > 0);
      assert.deepEqual((await repository.verify()).damages, []);
      assert.equal((await repository.timeline({})).total, 2);
    });
  },
);

Deno.test("a worker that fails fails its call alone: those that wait run in a new one", async () => {
  const workers: Worker[] = [];
  const startWorker = () => {
    const url = new URL(
      "../../../../services/engines/fossil/workers/repository_worker.ts",
      import.meta.url,
    );
    const worker = new Worker(url, { type: "module" });
    workers.push(worker);
    return worker;
  };
  await withPool({ workers: 1, startWorker }, async (_, repository) => {
    const running = repository.addUser({ login: "eve", capabilities: "v", password: null });
    const lost = assert.rejects(running, /broken\. The change may have been made: look before/);
    const waiting = Promise.all([
      repository.statistics(),
      repository.addUser({ login: "bob", capabilities: "v", password: null }),
      commit(repository, "a", encodeUtf8("a")),
    ]);
    workers[0]?.dispatchEvent(new ErrorEvent("error", { message: "broken", cancelable: true }));
    await lost;
    assert.equal((await waiting)[1], true);
    assert.equal((await repository.timeline({})).total, 2);
    // On a busy machine, a slow call moves to one more.
    assert.ok(workers.length >= 2);
  });
});

Deno.test("a long archive lets a blame of another repository pass", THOROUGH, async () => {
  await withPool({}, async (pool, repository) => {
    const { uuid } = await repository.resolveCheckin("trunk");
    const changes = Array.from({ length: 24 }, (_, index) => {
      const content = new Uint8Array(1_000_000);
      for (let at = 0; at < content.length; at += 50_000) {
        crypto.getRandomValues(content.subarray(at, at + 50_000));
      }
      return { kind: "write", path: `file ${index}`, content } as const;
    });
    const large = { user: "alice", date: DATE + 1000, parent: uuid, comment: "large", changes };
    await repository.commit(large);
    const folder = dirname(repository.path);
    const other = await pool.create(join(folder, "two.fossil"), { admin: "alice", date: DATE });
    await commit(other, "a", encodeUtf8("a"));
    const target = join(folder, "archive");
    const order: string[] = [];
    const options = { format: "zip", target } as const;
    await Promise.all([
      repository.archive(options).then(() => order.push("archive")),
      other.blame({ path: "a" }).then(() => order.push("blame")),
    ]);
    assert.deepEqual(order, ["blame", "archive"]);
    assert.ok((await Deno.stat(target)).size > 24_000_000);
  });
});

Deno.test("a blame, an archive or a search delays no other call", async () => {
  let count = 0;
  const silent = URL.createObjectURL(new Blob(["self.onmessage = () => {};"]));
  const startWorker = () => {
    count++;
    const url = count === 1
      ? new URL("../../../../services/engines/fossil/workers/repository_worker.ts", import.meta.url)
      : silent;
    return new Worker(url, { type: "module" });
  };
  const timeLimits = { blame: 1, searchEach: 1 };
  const slow: Promise<void>[] = [];
  let ended = 0;
  const options = { workers: 1, graceMs: 600_000, closeMs: 1, timeLimits, startWorker };
  await withPool(options, async (_, repository) => {
    await commit(repository, "a", encodeUtf8("a"), 1);
    slow.push(
      refused("unavailable", repository.blame({ path: "a" }).finally(() => ended++)),
      refused(
        "unavailable",
        repository.searchEach({ query: "a", kinds: ["wiki"] }).finally(() => ended++),
      ),
    );
    assert.equal((await repository.timeline({})).total, 2);
    await commit(repository, "a", encodeUtf8("b"), 2);
    assert.equal(ended, 0);
    assert.equal(count, 3);
  });
  await Promise.all(slow);
  URL.revokeObjectURL(silent);
});

Deno.test("a call that takes too long is ended, and the repository stays usable", async () => {
  await withPool({ timeLimits: { rebuild: 0 } }, async (_, repository) => {
    const { uuid: parent } = await repository.resolveCheckin("trunk");
    const changes = Array.from({ length: 1500 }, (_, i) => {
      return { kind: "write", path: `f${i}`, content: encodeUtf8(`file ${i}`) } as const;
    });
    await repository.commit({ user: "a", date: DATE + 1000, parent, comment: "many", changes });
    const before = await repository.statistics();
    await refused("timeout", repository.rebuild());
    assert.deepEqual(await repository.statistics(), before);
    await commit(repository, "a", encodeUtf8("a"));
  });
});

Deno.test("a worker that does not answer is ended, and the calls that wait run in a new one", async () => {
  const workers: Worker[] = [];
  const startWorker = () => {
    // It sleeps: Deno does not end a terminated worker that computes.
    const sleep = "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)),0,0)";
    const ready = "self.postMessage({kind:'ready'})";
    const stuck = `data:application/javascript,self.onmessage=()=>{${sleep};};${ready}`;
    const real = new URL(
      "../../../../services/engines/fossil/workers/repository_worker.ts",
      import.meta.url,
    );
    workers.push(new Worker(workers.length === 1 ? stuck : real, { type: "module" }));
    return workers.at(-1)!;
  };
  const timeLimits = { statistics: 10, timeline: null };
  const stuckCalls: unknown[] = [];
  const onStuck = (call: unknown) => stuckCalls.push(call);
  const options = { workers: 1, timeLimits, graceMs: 20, startWorker, onStuck };
  await withPool(options, async (_, repository) => {
    workers[0]?.dispatchEvent(new ErrorEvent("error", { message: "gone", cancelable: true }));
    const stuck = repository.statistics();
    const waiting = repository.timeline({});
    await refused("unavailable", stuck);
    assert.equal((await waiting).total, 1);
    assert.equal(workers.length, 3);
    assert.deepEqual(stuckCalls, [{ path: repository.path, operation: "statistics", ms: 50 }]);
  });
});

Deno.test("beyond the limit of open repositories, the one idle longest is closed", async () => {
  await withPool({ workers: 1, maxOpen: 2 }, async (pool, first) => {
    const folder = dirname(first.path);
    const make = (name: string) => pool.create(join(folder, name), { admin: "alice", date: DATE });
    const [second, third] = [await make("two.fossil"), await make("three.fossil")];
    const isOpen = (repository: PooledRepository) => exists(`${repository.path}-wal`);
    const all = [first, second, third];
    assert.deepEqual(await Promise.all(all.map(isOpen)), [false, true, true]);
    await second.statistics();
    await first.statistics();
    assert.deepEqual(await Promise.all(all.map(isOpen)), [true, true, false]);
    assert.equal((await third.timeline({})).total, 1);
    await first.close();
    assert.equal(await isOpen(first), false);
  });
});

Deno.test("if repositories cache too much together, the one idle longest is closed", async () => {
  await withPool({ workers: 1, maxCachedBytes: 100_000 }, async (pool, first) => {
    const second = await pool.create(join(dirname(first.path), "two.fossil"), {
      admin: "alice",
      date: DATE,
    });
    await commit(first, "small", new Uint8Array(1000));
    await second.statistics();
    assert.equal(await exists(`${first.path}-wal`), true);
    await commit(first, "large", new Uint8Array(200_000));
    await first.statistics();
    assert.equal(await exists(`${first.path}-wal`), true);
    await second.statistics();
    assert.equal(await exists(`${first.path}-wal`), false);
    assert.equal((await first.timeline({})).total, 3);
  });
});

Deno.test("a closing pool refuses waiting and new calls, and leaves no file open", async () => {
  await withPool({ workers: 1 }, async (pool, repository) => {
    const running = repository.statistics();
    const waiting = commit(repository, "a", encodeUtf8("a"));
    const closed = pool.close();
    await refused("unavailable", waiting);
    await running.catch((error) => assert.equal(error.code, "unavailable"));
    await closed;
    await refused("unavailable", repository.timeline({}));
    assert.equal(await exists(`${repository.path}-wal`), false);
    using file = Repository.open(repository.path);
    assert.deepEqual(file.verify(), []);
  });
});

Deno.test("a read that keeps others waiting goes on in a worker on the side", async () => {
  // Reads until it is interrupted; then it refuses every call.
  const reading = `let interrupt;
self.onmessage = ({ data }) => {
  if (data.kind === "open") interrupt = new Int32Array(data.cancelled);
  else if (data.request.operation !== "statistics") {
    self.postMessage({ kind: "answer", answer: { kind: "refused", code: "invalid" } });
  } else {
    while (Atomics.load(interrupt, 0) === 0) Atomics.wait(interrupt, 0, 0, 5);
    self.postMessage({ kind: "cancelled" });
  }
};
self.postMessage({ kind: "ready" });`;
  const workers: Worker[] = [];
  const startWorker = () => {
    const slow = `data:application/javascript,${encodeURIComponent(reading)}`;
    const real = new URL(
      "../../../../services/engines/fossil/workers/repository_worker.ts",
      import.meta.url,
    );
    workers.push(new Worker(workers.length === 1 ? slow : real, { type: "module" }));
    return workers.at(-1)!;
  };
  await withPool({ workers: 1, startWorker }, async (_, repository) => {
    workers[0]?.dispatchEvent(new ErrorEvent("error", { message: "gone", cancelable: true }));
    const heavy = repository.statistics();
    await refused("invalid", repository.timeline({}));
    assert.equal((await heavy).checkin_count, 1);
    assert.equal(workers.length, 3);
  });
});
