import assert from "node:assert/strict";
import { join } from "node:path";
import { openSqlite } from "../../../../services/engines/database/mod.ts";
import { Conflict } from "../../../../services/kernel/errors.ts";
import { NameLeases, NameLocks } from "../../../../services/chat/irc_network/name_leases.ts";
import { silentLog } from "../../../../services/kernel/log.ts";
import { TestScheduler } from "../../../support/scheduler.ts";
import { withFolder } from "../../../support/temporary.ts";
import { until } from "../../../support/until.ts";

/** The locks of two nodes, of which the second can end. */
async function withNodes(
  run: (world: {
    readonly locks: readonly [NameLocks, NameLocks];
    readonly running: Set<string>;
    readonly scheduler: TestScheduler;
  }) => Promise<void>,
): Promise<void> {
  await withFolder(async (folder) => {
    const database = openSqlite(join(folder, "muster.db"));
    const scheduler = new TestScheduler();
    const running = new Set(["a", "b"]);
    const locksOf = (node: string) =>
      new NameLocks(
        new NameLeases({ database, node, running: () => running, scheduler, log: silentLog }),
      );
    try {
      await run({ locks: [locksOf("a"), locksOf("b")], running, scheduler });
    } finally {
      await database.close();
    }
  });
}

Deno.test("an account is changed by one node at a time", () =>
  withNodes(async ({ locks: [a, b], scheduler }) => {
    const first = await a.acquire("Coder");
    (await b.acquire("other"))[Symbol.dispose]();
    let second: Disposable | null = null;
    const waiting = b.acquire("coder").then((lock) => second = lock);
    first[Symbol.dispose]();
    await until(() => {
      scheduler.advance(250);
      return second !== null;
    });
    (await waiting)[Symbol.dispose]();
  }));

Deno.test("a node gives up on an account that another one changes for long", () =>
  withNodes(async ({ locks: [a, b], scheduler }) => {
    const first = await a.acquire("coder");
    let error: unknown = null;
    const waiting = b.acquire("coder").catch((reason: unknown) => error = reason);
    await until(() => {
      scheduler.advance(250);
      return error !== null;
    });
    await waiting;
    assert.ok(error instanceof Conflict);
    first[Symbol.dispose]();
  }));

Deno.test("what a node has held is free once it no longer runs", () =>
  withNodes(async ({ locks: [a, b], running }) => {
    await b.acquire("coder");
    running.delete("b");
    (await a.acquire("coder"))[Symbol.dispose]();
  }));
