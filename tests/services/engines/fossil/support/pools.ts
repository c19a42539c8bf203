import assert from "node:assert/strict";
import { join } from "node:path";
import { RepositoryPool } from "../../../../../services/engines/fossil/front/mod.ts";
import {
  FossilError,
  type PooledRepository,
  type PoolOptions,
} from "../../../../../services/engines/fossil/mod.ts";
import { withFolder } from "../../../../support/temporary.ts";

/** When the repositories of these tests begin, in Unix milliseconds. */
export const DATE = Date.UTC(2026, 0, 2, 3, 4, 5);

/**
 * Runs a test with a pool and a new repository in it.
 *
 * @param options those of the pool; a function gets the folder of the repository
 */
export async function withPool(
  options: PoolOptions | ((folder: string) => PoolOptions),
  run: (pool: RepositoryPool, repository: PooledRepository) => Promise<void>,
): Promise<void> {
  await withFolder(async (folder) => {
    const pool = new RepositoryPool(typeof options === "function" ? options(folder) : options);
    try {
      const path = join(folder, "one.fossil");
      await run(pool, await pool.create(path, { admin: "alice", date: DATE }));
    } finally {
      await pool.close();
    }
  });
}

/** Asserts that a call is refused with a code of the engine. */
export async function refused(code: FossilError["code"], call: Promise<unknown>): Promise<void> {
  await assert.rejects(
    call,
    (error: unknown) => error instanceof FossilError && error.code === code,
  );
}

/** Writes a file in a check-in of its own; returns the check-in. */
export async function commit(
  repository: PooledRepository,
  path: string,
  content: Uint8Array,
  day = 1,
) {
  const { uuid } = await repository.resolveCheckin("trunk");
  return await repository.commit({
    user: "alice",
    date: DATE + day * 86_400_000,
    parent: uuid,
    comment: `change ${path}`,
    changes: [{ kind: "write", path, content }],
  });
}

/** Whether there is a file. */
export async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}
