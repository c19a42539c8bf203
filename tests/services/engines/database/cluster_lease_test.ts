/** Nodes whose leases end, and that come back. */
import assert from "node:assert/strict";
import { until } from "../../../support/until.ts";
import { anEvent, halting, testCluster } from "./cluster_support.ts";

testCluster("a node comes back that loads everything for longer than its lease", async (world) => {
  const [a, b] = [await world.open("a"), await world.open("b")];
  b.scheduler.advance(5_000);
  assert.equal(b.database.isCurrent, false);
  await b.database.keepCurrent({
    tables: ["halts", "settings"],
    load: () => Promise.resolve(b.scheduler.advance(6_000)),
  });
  await a.database.commit({ events: [anEvent("x")] });
  await until(() => b.appended.length > 0);
  for (let turn = 0; turn < 5 && !b.database.isCurrent; turn++) await b.database.peers?.catchUp();
  assert.equal(b.database.isCurrent, true);
});

testCluster(
  "a node that comes back knows what was written until its lease began",
  async (world) => {
    const [a, b] = [await world.open("a"), await world.open("b")];
    let meanwhile = () => Promise.resolve();
    await b.database.keepCurrent({ tables: ["halts"], load: () => meanwhile() });
    let known: readonly string[] | null = null;
    b.database.onPeersLooked(() => {
      if (b.database.isCurrent && b.reasons.size > 0) known ??= [...b.reasons.keys()];
    });
    // It looks when it is told, and its lease ends before it has loaded what it found.
    b.scheduler.setClock(5_000);
    meanwhile = async () => {
      meanwhile = () => Promise.resolve();
      await world.ask("UPDATE leases SET expires_at = 0 WHERE node = 'b'");
      // Nobody waits for b now.
      await a.database.commit({ statements: [halting(a, "second")] });
    };
    await a.database.commit({ statements: [halting(a, "first")] });
    await until(() => {
      b.scheduler.advance(10);
      return known !== null;
    });
    assert.deepEqual(known, ["first", "second"]);
  },
);

testCluster("a lease ends when the clock is set back, or the machine sleeps", async (world) => {
  const [a, b] = [await world.open("a"), await world.open("b")];
  a.scheduler.setClock(-120_000);
  assert.equal(a.database.isCurrent, true);
  a.scheduler.advance(5_000);
  assert.equal(a.database.isCurrent, false);
  b.scheduler.setClock(5_000);
  assert.equal(b.database.isCurrent, false);
});
