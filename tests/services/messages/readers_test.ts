import assert from "node:assert/strict";
import { type LoggedMessage, MessageLog, MessageReaders } from "../../../services/messages/mod.ts";
import { TestScheduler } from "../../support/scheduler.ts";

/** When a reader that finds nothing is answered, in milliseconds after it asked. */
async function answeredAfter(waitSeconds: number, startsAt: number): Promise<number> {
  const scheduler = new TestScheduler();
  scheduler.advance(startsAt - scheduler.now() % 2000);
  const readers = new MessageReaders({ scheduler, max: 1 });
  const log = new MessageLog<LoggedMessage>({ capacity: 1, onFailure: () => assert.fail() });
  const asked = scheduler.now();
  const waiting = readers.read(log, { limit: 1, waitSeconds });
  while (readers.waiting === 1) {
    scheduler.advance(1);
    await Promise.resolve();
  }
  assert.deepEqual(await waiting, []);
  return scheduler.now() - asked;
}

Deno.test("long waits that began in the same two seconds end together, at most that early", async () => {
  assert.equal(await answeredAfter(60, 2000), 60_000);
  assert.equal(await answeredAfter(60, 2001), 59_999);
  assert.equal(await answeredAfter(60, 3999), 58_001);
});

Deno.test("a short wait is as long as asked", async () => {
  assert.equal(await answeredAfter(5, 1999), 5000);
});
