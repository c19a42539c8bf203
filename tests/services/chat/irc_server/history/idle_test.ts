import assert from "node:assert/strict";
import { join } from "node:path";
import {
  archivePart,
  HistoryArchive,
  type Retention,
} from "../../../../../services/chat/irc_server/history/mod.ts";
import { SharedThread } from "../../../../../services/kernel/threads/mod.ts";
import { TestLog } from "../../../../support/services.ts";
import { TestScheduler } from "../../../../support/scheduler.ts";
import { withFolder } from "../../../../support/temporary.ts";

const HOUR = 3_600_000;

/** Opens the archive as a start does, and counts how often retention would start the worker. */
async function open(folder: string, scheduler: TestScheduler, retention: Retention) {
  const thread = new SharedThread({ history: archivePart });
  const archive = await HistoryArchive.open({
    path: join(folder, "history.db"),
    retention,
    scheduler,
    log: new TestLog(),
    thread,
  });
  let starts = 0;
  return {
    archive,
    starts: () => starts,
    leave: () =>
      thread.leave(() => {
        starts++;
        throw new Error("This test has no worker");
      }),
  };
}

Deno.test("retention starts no worker while the archive is within its bounds and nothing is said", () =>
  withFolder(async (folder) => {
    const scheduler = new TestScheduler();
    const retention = { age: 24 * HOUR, records: 2, bytes: 1_000_000 };
    const first = await open(folder, scheduler, retention);
    const target = { account: null, name: "#a" };
    const said = { time: scheduler.now(), id: "1", kind: 0, content: "text" } as const;
    first.archive.append({ ...said, target, title: "#a", confined: false });
    await first.archive.close();

    const { archive, starts, leave } = await open(folder, scheduler, retention);
    archive.forgetConfined(target);
    const other = { account: null, name: "#b" };
    archive.append({ ...said, id: "2", target: other, title: "#b", confined: false });
    await archive.flush();
    leave();
    scheduler.advance(23 * HOUR);
    archive.retain({ ...retention, age: 48 * HOUR });
    assert.equal(starts(), 0);
    archive.retain({ ...retention, bytes: 10 });
    assert.equal(starts(), 1);
    await archive.close();

    const again = await open(folder, scheduler, retention);
    again.leave();
    scheduler.advance(2 * HOUR);
    assert.ok(again.starts() > 0);
    await again.archive.close();
  }));
