/** Repositories of a process that has no file descriptors left. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { RepositoryPool } from "../../../../services/engines/fossil/front/mod.ts";
import type { PooledRepository } from "../../../../services/engines/fossil/mod.ts";
import { withFolder } from "../../../support/temporary.ts";

Deno.test("a pool that shall open fewer files closes half of them, and opens no more again", async () => {
  await withFolder(async (folder) => {
    const pool = new RepositoryPool({ workers: 1 });
    try {
      const all: PooledRepository[] = [];
      for (let number = 1; number <= 6; number++) {
        const path = join(folder, `${number}.fossil`);
        all.push(await pool.create(path, { admin: "alice", date: Date.UTC(2026, 0, 2) }));
      }
      const open = async () => {
        const found = await Promise.all(all.map(isOpen));
        return all.flatMap((_, index) => found[index] ? [index + 1] : []);
      };
      assert.deepEqual(await open(), [1, 2, 3, 4, 5, 6]);
      pool.openFewer();
      await all[5]?.statistics();
      assert.deepEqual(await open(), [4, 5, 6]);
      await all[0]?.statistics();
      assert.deepEqual(await open(), [1, 5, 6]);
      for (let times = 0; times < 3; times++) pool.openFewer();
      await all[5]?.statistics();
      assert.deepEqual(await open(), [1, 6]);
      assert.equal((await all[2]?.timeline({}))?.total, 1);
    } finally {
      await pool.close();
    }
  });
});

/** SQLite removes the log when the last connection is closed. */
async function isOpen({ path }: PooledRepository): Promise<boolean> {
  return await Deno.stat(`${path}-wal`).then(() => true, () => false);
}
