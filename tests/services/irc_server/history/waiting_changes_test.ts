import assert from "node:assert/strict";
import { HistoryKind } from "../../../../services/irc/mod.ts";
import { WaitingChanges } from "../../../../services/irc_server/history/waiting_changes.ts";
import { TestScheduler } from "../../../support/scheduler.ts";

/** A journal in memory on a disk that may refuse. */
class TestJournal {
  syncs = 0;
  isBroken = false;

  add(): boolean {
    return true;
  }

  sync(): Promise<boolean> {
    this.syncs++;
    return Promise.resolve(!this.isBroken);
  }
}

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
