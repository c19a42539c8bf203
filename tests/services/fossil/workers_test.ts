import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { dirname, join } from "node:path";
import {
  encodeUtf8,
  FossilError,
  packBlob,
  type PooledRepository,
  type PoolOptions,
  Repository,
  RepositoryPool,
} from "../../../services/fossil/mod.ts";
import { withFolder } from "../../support/temporary.ts";
import { Scratch } from "./support/fossil.ts";
import { judged } from "./support/judges.ts";

const DATE = Date.UTC(2026, 0, 2, 3, 4, 5);

/** Runs a test with a pool and a new repository in it. */
async function withPool(
  options: PoolOptions,
  run: (pool: RepositoryPool, repository: PooledRepository) => Promise<void>,
): Promise<void> {
  await withFolder(async (folder) => {
    const pool = new RepositoryPool(options);
    try {
      const path = join(folder, "one.fossil");
      await run(pool, await pool.create(path, { admin: "alice", date: DATE }));
    } finally {
      await pool.close();
    }
  });
}

/** Asserts that a call is refused with a code of the engine. */
async function refused(code: FossilError["code"], call: Promise<unknown>): Promise<void> {
  await assert.rejects(
    call,
    (error: unknown) => error instanceof FossilError && error.code === code,
  );
}

async function commit(repository: PooledRepository, path: string, content: Uint8Array, day = 1) {
  const { uuid } = await repository.resolveCheckin("trunk");
  return await repository.commit({
    user: "alice",
    date: DATE + day * 86_400_000,
    parent: uuid,
    comment: `change ${path}`,
    changes: [{ kind: "write", path, content }],
  });
}

Deno.test("a pooled repository is written and read, in the order of the calls", async () => {
  await withPool({}, async (_, repository) => {
    const large = new Uint8Array(700_000).fill(65);
    const first = await commit(repository, "large.txt", large, 1);
    const calls = [commit(repository, "a.txt", encodeUtf8("a"), 2), repository.timeline({})];
    const [second, before] = await Promise.all(calls);
    assert.equal((before as { total: number }).total, 2);
    const { checkins, total } = await repository.timeline({ limit: 2 });
    assert.equal(total, 3);
    assert.deepEqual(checkins.map(({ uuid }) => uuid), [second, first]);
    const json = await repository.json.timeline({ limit: 2 });
    assert.deepEqual(JSON.parse(new TextDecoder().decode(json)), { checkins, total });
    const file = await repository.file({ path: "large.txt" });
    assert.deepEqual(file.content, large);
    assert.deepEqual((await repository.file({ path: "large.txt" })).content, large);
  });
});

Deno.test("many artifacts are verified with a second thread, and damage is found", async () => {
  await withPool({}, async (_, repository) => {
    const { uuid: parent } = await repository.resolveCheckin("trunk");
    const changes = Array.from({ length: 2500 }, (_, i) => {
      return {
        kind: "write",
        path: `f${i}`,
        content: encodeUtf8(`file ${i}\n`.repeat(200)),
      } as const;
    });
    const author = { user: "alice", date: DATE + 1000 };
    await repository.commit({ ...author, parent, comment: "many", changes });
    assert.deepEqual((await repository.verify()).damages, []);
    await repository.close();
    const names = damage(repository.path, [5, 1250, 2495]);
    const reason = "Content does not have its hash";
    const { damages: found } = await repository.verify();
    const damages = found.toSorted((a, b) => a.hash < b.hash ? -1 : 1);
    assert.deepEqual(damages, names.toSorted().map((hash) => ({ hash, reason })));
  });
});

/** Puts other bytes of the same length into some rows; gives their names. */
function damage(path: string, rids: readonly number[]): string[] {
  using repository = Repository.open(path);
  return rids.map((rid) => {
    const content = new Uint8Array(repository.store.sizeOf(rid)).fill(65);
    repository.db.run("UPDATE blob SET content=? WHERE rid=?", packBlob(content), rid);
    return repository.store.hashOf(rid) ?? "";
  });
}

Deno.test("an imported file has no free pages, and leaves no other files", async () => {
  await withPool({}, async (pool, one) => {
    for (let day = 1; day < 30; day++) {
      const content = encodeUtf8(`line ${day}\n`.repeat(2000 + day));
      await commit(one, `f${day % 3}`, content, day);
    }
    const folder = dirname(one.path);
    const stream = join(folder, "stream");
    await one.exportGit({ target: stream });
    const source = { source: stream, format: "git" } as const;
    const path = join(folder, "two.fossil");
    const create = { admin: "alice" };
    const dead = `${path}.muster-draft-0123456789abcdef`;
    await Deno.writeTextFile(dead, "left by a process that died");
    const { repository } = await pool.import(path, { create, ...source });
    assert.equal((await repository.timeline({})).total, 30);
    await repository.close();
    {
      using opened = Repository.open(path);
      assert.equal(opened.db.value("PRAGMA freelist_count"), 0);
      assert.equal(opened.db.value("PRAGMA integrity_check"), "ok");
    }
    await refused("invalid", pool.import(path, { create, ...source }));
    await Deno.writeTextFile(stream, "nonsense\n");
    await refused("invalid", pool.import(join(folder, "bad.fossil"), { create, ...source }));
    const files = [...Deno.readDirSync(folder)].map(({ name }) => name).toSorted();
    assert.deepEqual(files.filter((name) => !/-(?:wal|shm)$/.test(name)), [
      "one.fossil",
      "stream",
      "two.fossil",
    ]);
  });
});

Deno.test("a refusal of the engine reaches the caller, and the repository stays usable", async () => {
  await withPool({}, async (pool, repository) => {
    await refused("missing", repository.file({ path: "none" }));
    await refused("missing", repository.resolveCheckin("0000000000"));
    await refused("unsupported", pool.open(join(repository.path, "..", "none.fossil")));
    await refused("invalid", pool.create(repository.path, { admin: "bob", date: DATE }));
    await commit(repository, "a", encodeUtf8("a"));
    assert.equal((await repository.timeline({})).total, 2);
  });
});

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

Deno.test("a long call reports its progress, and stops when it is cancelled", async () => {
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
});

Deno.test("calls to a failed worker are rejected, and the next call gets a new one", async () => {
  const workers: Worker[] = [];
  const startWorker = () => {
    const url = new URL(
      "../../../services/fossil/workers/repository_worker.ts",
      import.meta.url,
    );
    const worker = new Worker(url, { type: "module" });
    workers.push(worker);
    return worker;
  };
  await withPool({ workers: 1, startWorker }, async (_, repository) => {
    const running = repository.statistics();
    const waiting = repository.statistics();
    workers[0]?.dispatchEvent(new ErrorEvent("error", { message: "broken", cancelable: true }));
    await refused("unavailable", running);
    await refused("unavailable", waiting);
    assert.equal((await repository.timeline({})).total, 1);
    assert.equal(workers.length, 2);
  });
});

Deno.test("a blame, an archive or a search delays no other call", async () => {
  let count = 0;
  const silent = URL.createObjectURL(new Blob(["self.onmessage = () => {};"]));
  const startWorker = () => {
    count++;
    const url = count === 1
      ? new URL("../../../services/fossil/workers/repository_worker.ts", import.meta.url)
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

Deno.test("a backup is whole while the repository is in use", async () => {
  await withPool({}, async (_, repository) => {
    const target = `${repository.path}.backup`;
    const hash = await commit(repository, "a", encodeUtf8("a"), 1);
    await Promise.all([repository.timeline({}), repository.backUp(target)]);
    await commit(repository, "a", encodeUtf8("b"), 2);
    await refused("invalid", repository.backUp(target));
    using copy = Repository.open(target, { readOnly: true });
    assert.deepEqual(copy.verify(), []);
    assert.equal(copy.db.value("SELECT count(*) FROM event"), 2);
    assert.ok(copy.ridOf(hash) > 0);
    assert.equal((await repository.timeline({})).total, 3);
  });
});

Deno.test("writes of another program are seen", async () => {
  await withPool({}, async (_, repository) => {
    assert.equal((await repository.timeline({})).total, 1);
    const { uuid: parent } = await repository.resolveCheckin("trunk");
    using other = Repository.open(repository.path);
    other.write({ user: "bob", ip: null }, () => {
      const file = other.receive(encodeUtf8("from outside"));
      other.add({
        kind: "manifest",
        baseline: null,
        comment: "from outside",
        date: DATE + 1000,
        files: [{ name: "a", hash: other.store.hashOf(file.rid)!, mode: "file", oldName: null }],
        mimetype: null,
        parents: [parent],
        cherrypicks: [],
        checksum: null,
        tags: [],
        user: "bob",
      });
    });
    assert.equal((await repository.timeline({})).total, 2);
    assert.equal((await repository.file({ path: "a" })).content.length, 12);
  });
});

judged(
  "fossil clones the file of a repository in use, soon after it was written",
  async (program) => {
    await withPool({ settleMs: 1 }, async (_, repository) => {
      using scratch = new Scratch(program);
      const content = new Uint8Array(randomBytes(3_000_000));
      const watcher = Deno.watchFs(repository.path)[Symbol.asyncIterator]();
      const hash = await commit(repository, "large", content);
      const hasAll = async () => ((await Deno.stat(repository.path)).size) > content.length;
      while (!await hasAll()) await watcher.next();
      await watcher.return?.();
      await repository.statistics();
      const clone = scratch.path("clone.fossil");
      scratch.fossil(["clone", repository.path, clone]);
      assert.match(scratch.fossil(["test-integrity", "-R", clone]), / 0 errors/);
      assert.match(scratch.fossil(["info", hash, "-R", clone]), /change large/);
      assert.equal((await repository.timeline({})).total, 2);
    });
  },
);

Deno.test("an idle repository is closed, and reopened on demand", async () => {
  await withPool({ idleMs: 1 }, async (_, repository) => {
    const log = `${repository.path}-wal`;
    const watcher = Deno.watchFs(join(repository.path, ".."))[Symbol.asyncIterator]();
    await repository.statistics();
    // SQLite removes the log when the last connection is closed.
    while (await exists(log)) await watcher.next();
    await watcher.return?.();
    assert.equal(await exists(log), false);
    assert.equal((await repository.timeline({})).total, 1);
  });
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

Deno.test("a worker that does not answer is terminated, and the next call gets a new one", async () => {
  const workers: Worker[] = [];
  const startWorker = () => {
    // It sleeps: Deno does not end a terminated worker that computes.
    const sleep = "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)),0,0)";
    const stuck = `data:application/javascript,self.onmessage=()=>{${sleep};}`;
    const real = new URL("../../../services/fossil/workers/repository_worker.ts", import.meta.url);
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
    await refused("unavailable", waiting);
    assert.equal((await repository.timeline({})).total, 1);
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

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}
