import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { dirname, join } from "node:path";
import { encodeUtf8, packBlob, Repository } from "../../../../services/engines/fossil/mod.ts";
import { Scratch } from "./support/fossil.ts";
import { judged } from "./support/judges.ts";
import { commit, DATE, exists, refused, withPool } from "./support/pools.ts";
import { THOROUGH } from "../../../support/level.ts";

/** Puts other bytes of the same length into some rows; gives their names. */
function damage(path: string, rids: readonly number[]): string[] {
  using repository = Repository.open(path);
  return rids.map((rid) => {
    const content = new Uint8Array(repository.store.sizeOf(rid)).fill(65);
    repository.db.run("UPDATE blob SET content=? WHERE rid=?", packBlob(content), rid);
    return repository.store.hashOf(rid) ?? "";
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

Deno.test(
  "many artifacts are verified with a second thread, and damage is found",
  THOROUGH,
  async () => {
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
  },
);

Deno.test("an imported file has no free pages, and leaves no other files", THOROUGH, async () => {
  await withPool({}, async (pool, one) => {
    for (let day = 1; day < 30; day++) {
      const content = encodeUtf8(`line ${day}\n`.repeat(2000 + day));
      await commit(one, `f${day % 3}`, content, day);
    }
    const folder = dirname(one.path);
    const stream = join(folder, "stream");
    await one.exportGit({ target: stream });
    const from = { source: stream, format: "git" } as const;
    const path = join(folder, "two.fossil");
    const create = { admin: "alice" };
    const dead = `${path}.muster-draft-0123456789abcdef`;
    await Deno.writeTextFile(dead, "left by a process that died");
    await pool.import(path, { create, from });
    const repository = await pool.open(path);
    assert.equal((await repository.timeline({})).total, 30);
    await repository.close();
    {
      using opened = Repository.open(path);
      assert.equal(opened.db.value("PRAGMA freelist_count"), 0);
      assert.equal(opened.db.value("PRAGMA integrity_check"), "ok");
    }
    await refused("invalid", pool.import(path, { create, from }));
    await Deno.writeTextFile(stream, "nonsense\n");
    await refused("invalid", pool.import(join(folder, "bad.fossil"), { create, from }));
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

Deno.test("an idle worker ends, and another one starts on demand", async () => {
  const url = import.meta.resolve(
    "../../../../services/engines/fossil/workers/repository_worker.ts",
  );
  let started = 0;
  const ended: PromiseWithResolvers<void>[] = [];
  const startWorker = () => {
    const end = ended[started++] = Promise.withResolvers<void>();
    const worker = new Worker(url, { type: "module" });
    const terminate = worker.terminate.bind(worker);
    return Object.assign(worker, {
      terminate() {
        terminate();
        end.resolve();
      },
    });
  };
  await withPool({ workers: 1, idleMs: 1, lingerMs: 1, startWorker }, async (_, repository) => {
    await ended[0]?.promise;
    assert.equal((await repository.timeline({})).total, 1);
    assert.ok(started >= 2);
  });
});
