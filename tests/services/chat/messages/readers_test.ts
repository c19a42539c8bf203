import assert from "node:assert/strict";
import {
  type LoggedMessage,
  MessageLog,
  MessageReaders,
} from "../../../../services/chat/messages/mod.ts";
import { EarlyEnd } from "../../../../services/kernel/early_end.ts";
import { TooMany } from "../../../../services/kernel/errors.ts";
import { GUEST } from "../../../../services/people/identity/mod.ts";
import type { Holder } from "../../../../services/people/identity/quotas.ts";
import { TestScheduler } from "../../../support/scheduler.ts";
import { BY_OPERATOR } from "../../../support/services.ts";

/** When a reader that finds nothing is answered, in milliseconds after it asked. */
async function answeredAfter(waitSeconds: number, startsAt: number): Promise<number> {
  const scheduler = new TestScheduler();
  scheduler.advance(startsAt - scheduler.now() % 2000);
  const readers = new MessageReaders({ scheduler, max: 1 });
  const log = new MessageLog<LoggedMessage>({ capacity: 1, onFailure: () => assert.fail() });
  const asked = scheduler.now();
  const waiting = readers.read(log, { limit: 1, waitSeconds }, BY_OPERATOR);
  while (readers.waiting === 1) {
    scheduler.advance(1);
    await Promise.resolve();
    assert.ok(scheduler.now() - asked < 10 * 60_000);
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

function agent(id: string): Holder {
  return { principal: { ...GUEST, kind: "agent", id, name: id }, address: null };
}

Deno.test("the waiting readers of one caller leave room for others, until they end", async () => {
  const readers = new MessageReaders({ scheduler: new TestScheduler(), max: 8 });
  const log = new MessageLog<LoggedMessage>({ capacity: 1, onFailure: () => assert.fail() });
  const end = new EarlyEnd();
  const wait = (caller: Holder, end: EarlyEnd) =>
    readers.read(log, { limit: 1, waitSeconds: 60, end }, caller);
  const refused = (caller: Holder, message: RegExp) =>
    assert.throws(() => wait(caller, new EarlyEnd()), (error) => {
      assert.ok(error instanceof TooMany);
      assert.match(error.message, message);
      return true;
    });
  const greedy = agent("greedy");
  const first = wait(greedy, end);
  const ends = [end];
  const others: Promise<unknown>[] = [];
  const admit = (caller: Holder) => {
    const end = new EarlyEnd();
    ends.push(end);
    others.push(wait(caller, end));
  };
  admit(greedy);
  refused(greedy, /^You have 2 requests waiting for messages, the most for one caller/);
  for (const id of ["a", "a", "b", "b", "c"]) admit(agent(id));
  refused(agent("d"), /^Too many requests are waiting for messages on this server/);
  admit(BY_OPERATOR);
  refused(BY_OPERATOR, /^Too many requests/);
  end.end();
  await first;
  admit(greedy);
  for (const end of ends) end.end();
  await Promise.all(others);
  assert.equal(readers.waiting, 0);
});
