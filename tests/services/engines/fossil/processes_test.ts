import assert from "node:assert/strict";
import { join } from "node:path";
import {
  encodeUtf8,
  RepositoryPool,
  repositoryProcesses,
} from "../../../../services/engines/fossil/front/mod.ts";
import {
  type PooledRepository,
  type PoolOptions,
  Repository,
} from "../../../../services/engines/fossil/mod.ts";
import { withFolder } from "../../../support/temporary.ts";
import { stopProcess } from "../../../support/worker_processes.ts";
import { commit, DATE, refused } from "./support/pools.ts";

/** Two repositories, each in a process of its own, and how to signal the last process that started. */
interface Pair {
  readonly one: PooledRepository;
  readonly other: PooledRepository;
  /** The processes, in the order of their starts. */
  readonly pids: readonly number[];
}

async function withPair(
  { memoryBytes, ...options }: PoolOptions & { readonly memoryBytes?: number },
  test: (pair: Pair) => Promise<void>,
): Promise<void> {
  await withFolder(async (folder) => {
    const pids: number[] = [];
    const processes = repositoryProcesses(folder, memoryBytes);
    const startWorker = (nicer: number | null) => {
      const port = processes.startWorker(nicer);
      pids.push(port.pid);
      return port;
    };
    const pool = new RepositoryPool({ ...options, ...processes, workers: 2, startWorker });
    try {
      const create = (name: string) =>
        pool.create(join(folder, `${name}.fossil`), { admin: "alice", date: DATE });
      await test({ one: await create("one"), other: await create("other"), pids });
    } finally {
      await pool.close();
    }
  });
}

Deno.test("a process that is killed again and again loses nothing acknowledged, and others go on", async () => {
  await withPair({}, async ({ one, other, pids }) => {
    const [, ofOther] = pids;
    const written: string[] = [];
    for (let round = 0; round < 12; round++) {
      const victim = pids.findLast((pid) => pid !== ofOther);
      assert.ok(victim !== undefined);
      const works: Promise<unknown>[] = [];
      for (let at = 0; at < 4; at++) {
        const login = `user-${round}-${at}`;
        const write = one.addUser({ login, capabilities: "v", password: null });
        works.push(write.then(() => written.push(login)), one.timeline({}));
      }
      works.push(one.statistics());
      // Some are under way, some wait.
      const ended = works.map((work) => work.catch(assertLost));
      if (round % 3 > 0) await Promise.race(works.slice(0, round % 3 + 1)).catch(() => {});
      kill(victim);
      await commit(other, `${round}`, encodeUtf8("others go on"), round + 1);
      await Promise.all(ended);
    }
    const logins = loginsOf(one.path);
    for (const login of written) assert.ok(logins.includes(login), login);
    assert.ok(written.length > 12, `${written.length}`);
    assert.deepEqual((await one.verify()).damages, []);
    assert.equal((await other.timeline({})).total, 13);
  });
});

/** Kills a process. It may be gone already, though the pool has not heard of it yet. */
function kill(pid: number): void {
  try {
    Deno.kill(pid, "SIGKILL");
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

/** The users in a repository file. */
function loginsOf(path: string): readonly string[] {
  using file = Repository.open(path);
  return file.db.value<string>("SELECT group_concat(login) FROM user")?.split(",") ?? [];
}

function assertLost(error: unknown): void {
  assert.match(String(error), /The worker of the repository has ended/);
}

Deno.test({
  name: "a stopped process ends at the limit of its call; those that wait run in the next one",
  ignore: Deno.build.os !== "linux",
  fn: stopOne,
});

async function stopOne(): Promise<void> {
  const stuck: string[] = [];
  const options = {
    timeLimits: { statistics: 20 },
    graceMs: 20,
    onStuck: ({ operation }: { readonly operation: string }) => stuck.push(operation),
  };
  await withPair(options, async ({ one, other, pids: [pid] }) => {
    assert.ok(pid !== undefined);
    await stopProcess(pid);
    const lost = refused("unavailable", one.statistics());
    const waiting = one.timeline({});
    assert.equal((await other.timeline({})).total, 1, "nobody else notices");
    await lost;
    assert.equal((await waiting).total, 1);
    assert.deepEqual(stuck, ["statistics"]);
  });
}

Deno.test("a repository that needs more memory than there is ends its process alone", async () => {
  await withPair({ memoryBytes: 200 * 1024 * 1024 }, async ({ one, other }) => {
    const large = new Uint8Array(100 * 1024 * 1024).map((_, at) => at % 251);
    await assert.rejects(commit(one, "bomb", large), /needed more memory than it may have/);
    assert.equal((await one.timeline({})).total, 1);
    assert.equal((await other.timeline({})).total, 1);
  });
});

Deno.test("a process reads and writes repositories in its folder alone", async () => {
  await withFolder(async (elsewhere) => {
    await withPair({}, async ({ one }) => {
      const target = join(elsewhere, "copy");
      await assert.rejects(one.backUp(target), /NotCapable|access/);
      await assert.rejects(one.exportGit({ target }), /NotCapable|access/);
    });
  });
});

Deno.test("a process imports a file that its last writer left in any journal mode", async () => {
  await withFolder(async (folder) => {
    const pool = new RepositoryPool(repositoryProcesses(folder));
    try {
      for (const mode of ["WAL", "DELETE"]) {
        const path = join(folder, `${mode}.source`);
        const source = Repository.create(path, { admin: "alice", date: DATE });
        source.db.exec(`PRAGMA journal_mode=${mode}`);
        source.close();
        const create = { admin: "alice", date: DATE };
        const target = join(folder, `${mode}.fossil`);
        await pool.import(target, { from: { format: "fossil", source: path }, create });
        const repository = await pool.open(target);
        assert.equal((await repository.timeline({})).total, 1);
      }
    } finally {
      await pool.close();
    }
  });
});
