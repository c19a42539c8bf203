import assert from "node:assert/strict";
import { Unavailable } from "../../../../services/kernel/errors.ts";
import { Retention, verifyLog } from "../../../../services/engines/events/mod.ts";
import { silentLog } from "../../../../services/kernel/log.ts";
import { TestScheduler } from "../../../support/scheduler.ts";
import { TestLog } from "../../../support/services.ts";
import { anEvent, KEY, types, withLog } from "./support.ts";

const MINUTE = 60_000;

Deno.test("run() keeps the configured number of events, and the rest of the log verifies", async () => {
  await withLog(async ({ path, database, eventLog, scheduler, append }) => {
    await database.commit({ events: types(1800).map((type) => anEvent(type)) });
    const retention = new Retention({
      database,
      scheduler,
      maxEvents: 100,
      maxAge: 0,
      log: silentLog,
    });
    await retention.run();
    const { events, oldest } = await eventLog.read({ after: 0, limit: 1000 });
    assert.deepEqual([events.length, oldest], [100, 1701]);
    await append(["test.later"]);
    assert.deepEqual(verifyLog(path, KEY).findings, []);
  });
});

Deno.test("run() keeps young events, and the last event at any age", async () => {
  await withLog(async ({ path, database, eventLog, scheduler }) => {
    const old = (minutes: number) =>
      anEvent(`test.m${minutes}`, scheduler.now() - minutes * MINUTE);
    await database.commit({ events: [old(30), old(20), old(5), old(15), old(1)] });
    const retention = new Retention({
      database,
      scheduler,
      maxEvents: 0,
      maxAge: 10 * MINUTE,
      log: silentLog,
    });
    await retention.run();
    const kept = async () => (await eventLog.read({})).events.map(({ seq }) => seq);
    assert.deepEqual(await kept(), [3, 4, 5]);
    scheduler.advance(60 * MINUTE);
    await retention.run();
    assert.deepEqual(await kept(), [5]);
    assert.deepEqual(verifyLog(path, KEY).findings, []);
  });
});

Deno.test("retention checks the log once a minute until it stops", async () => {
  const scheduler = new TestScheduler();
  const asked: unknown[] = [];
  const log = new TestLog();
  const database = {
    trimEvents: (trim: unknown) => {
      asked.push(trim);
      if (asked.length === 2) return Promise.reject(new Unavailable("The disk is full"));
      return Promise.resolve(0);
    },
  };
  const retention = new Retention({ database, scheduler, maxEvents: 7, maxAge: 0, log });
  retention.start();
  for (let minute = 1; minute <= 3; minute++) {
    scheduler.advance(MINUTE);
    for (let turn = 0; turn < 100 && scheduler.pending === 0; turn++) await Promise.resolve();
  }
  assert.deepEqual(asked, Array(3).fill({ keep: 7, before: -Infinity, limit: 500 }));
  assert.match(log.lines.join("\n"), /disk is full/);
  await retention.stop();
  assert.equal(scheduler.pending, 0);

  const unbounded = new Retention({ database, scheduler, maxEvents: 0, maxAge: 0, log });
  unbounded.start();
  assert.equal(scheduler.pending, 0);
});
