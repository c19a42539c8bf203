import assert from "node:assert/strict";
import { HistoryKind } from "../../../../../services/engines/irc/mod.ts";
import { WaitingChanges } from "../../../../../services/chat/irc_server/history/waiting_changes.ts";
import { TestScheduler } from "../../../../support/scheduler.ts";
import type { Operation } from "../../../../../services/chat/irc_server/history/changes.ts";

/** A journal in memory on a disk that may refuse. */
class TestJournal {
  /** The numbers of the changes in each group. */
  readonly groups: number[][] = [];
  syncs = 0;
  isBroken = false;
  isFull = false;

  add(changes: readonly Operation[]): boolean {
    if (this.isFull) return false;
    this.groups.push(changes.map(({ sequence }) => sequence));
    return true;
  }

  sync(): Promise<boolean> {
    this.syncs++;
    return Promise.resolve(!this.isBroken);
  }
}

Deno.test("what a task adds is in the journal at its end, many times in one millisecond", async () => {
  const [journal, scheduler] = [new TestJournal(), new TestScheduler()];
  const changes = new WaitingChanges({ journal, scheduler, replayed: [], onAdded: () => {} });
  for (const first of [1, 3, 5]) {
    changes.add({ kind: "redact", sequence: first, id: "x" });
    changes.add({ kind: "redact", sequence: first + 1, id: "y" });
    await Promise.resolve();
  }
  assert.deepEqual(journal.groups, [[1, 2], [3, 4], [5, 6]]);
});

Deno.test("the journal is synced each second while changes wait", async () => {
  const [journal, scheduler] = [new TestJournal(), new TestScheduler()];
  const changes = new WaitingChanges({ journal, scheduler, replayed: [], onAdded: () => {} });
  let sequence = 0;
  const redact = async () => {
    changes.add({ kind: "redact", sequence: ++sequence, id: "x" });
    await Promise.resolve();
  };

  for (let count = 0; count < 3; count++) await redact();
  scheduler.advance(1000);
  assert.equal(journal.syncs, 1);
  scheduler.advance(5000);
  assert.equal(journal.syncs, 1, "nothing was added since");

  await redact();
  changes.removeOldest(4);
  scheduler.advance(1000);
  assert.equal(journal.syncs, 1, "the archive has all of it");

  await redact();
  changes.stop();
  scheduler.advance(1000);
  assert.equal(journal.syncs, 1, "it was closed");
});

Deno.test("what the disk did not sync is written to the archive at once", async () => {
  const [journal, scheduler] = [new TestJournal(), new TestScheduler()];
  const { promise, resolve } = Promise.withResolvers<void>();
  journal.isBroken = true;
  const onAdded = () => changes.areUrgent ? resolve() : undefined;
  const changes = new WaitingChanges({ journal, scheduler, replayed: [], onAdded });
  const target = { account: null, name: "#c" };
  const said = { time: 1, id: "x", kind: HistoryKind.MESSAGE, content: "x" };
  const record = { ...said, target, title: "#c", confined: false };
  changes.add({ kind: "append", sequence: 1, record });
  await Promise.resolve();
  assert.equal(changes.areUrgent, false);
  scheduler.advance(1000);
  await promise;
});

Deno.test("what the journal refuses is not added, and what it refused comes before the next change", async () => {
  const [journal, scheduler] = [new TestJournal(), new TestScheduler()];
  const changes = new WaitingChanges({ journal, scheduler, replayed: [], onAdded: () => {} });
  const redaction = (sequence: number): Operation => ({ kind: "redact", sequence, id: "x" });
  journal.isFull = true;
  changes.add({ kind: "confine", sequence: 1, target: { account: null, name: "#c" } });
  await Promise.resolve();
  assert.equal(changes.addStored([redaction(2)]), false);
  assert.equal(changes.length, 1);
  assert.equal(changes.areUrgent, true);

  journal.isFull = false;
  assert.equal(changes.addStored([redaction(2), redaction(3)]), true);
  assert.deepEqual(journal.groups, [[1], [2, 3]], "a start reads up to the first gap");
});
