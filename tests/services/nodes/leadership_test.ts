import assert from "node:assert/strict";
import { Leadership } from "../../../services/nodes/mod.ts";
import { peer } from "../../support/peers.ts";
import { TestLog } from "../../support/services.ts";
import { withCluster } from "./cluster.ts";

Deno.test(
  "one node does the work of the leader, and another one takes it over",
  peer("postgres server"),
  () =>
    withCluster(async ({ open, lookUntil }) => {
      const first = await open("first");
      const second = await open("second");
      const doing: string[] = [];
      for (const { name, leadership } of [first, second]) {
        leadership.add({
          start: () => void doing.push(`${name} starts`),
          stop: () => void doing.push(`${name} stops`),
        });
      }
      await first.leadership.begin();
      await lookUntil(() => first.leadership.isLeading);
      await second.leadership.begin();
      await lookUntil(() => second.nodes.leader !== null);
      assert.equal(second.nodes.leader?.name, "first");
      assert.deepEqual(second.nodes.all().map(({ name }) => name), ["first", "second"]);
      assert.deepEqual(doing, ["first starts"]);

      await first.leadership.end();
      await lookUntil(() => second.leadership.isLeading);
      assert.deepEqual(doing, ["first starts", "first stops", "second starts"]);
      await second.leadership.end();
    }),
);

Deno.test("a server that is alone leads until it ends", async () => {
  const doing: string[] = [];
  const database = { peers: null, onPeersLooked: () => () => {} };
  const leadership = new Leadership({ database, log: new TestLog() });
  leadership.add({
    start: () => Promise.reject(new Error("no")),
    stop: () => void doing.push("one stops"),
  });
  leadership.add({
    start: () => void doing.push("two starts"),
    stop: () => void doing.push("two stops"),
  });
  await leadership.begin();
  await leadership.end();
  assert.deepEqual(doing, ["two starts", "two stops", "one stops"]);
});

/** A database whose other programs a test makes up. */
class StandIn {
  readonly #listeners = new Set<() => void>();
  readonly peers = {
    isLeading: true,
    stand() {},
    whileLeading: { sql: "", parameters: [], mustChange: true },
  };

  onPeersLooked(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  look(): void {
    for (const listener of this.#listeners) listener();
  }
}

Deno.test("work stops although the node has just looked at the others", async () => {
  const doing: string[] = [];
  const database = new StandIn();
  const leadership = new Leadership({ database, log: new TestLog() });
  leadership.add({ start: () => void doing.push("starts"), stop: () => void doing.push("stops") });
  await leadership.begin();
  database.look();
  await leadership.end();
  assert.deepEqual(doing, ["starts", "stops"]);
});

Deno.test("work that cannot start is tried again, and reported once", async () => {
  const doing: string[] = [];
  const database = new StandIn();
  const log = new TestLog();
  const leadership = new Leadership({ database, log });
  let isBroken = true;
  leadership.add({
    start() {
      if (isBroken) throw new Error("no");
      doing.push("one starts");
    },
    stop: () => void doing.push("one stops"),
  });
  leadership.add({ start: () => void doing.push("two starts"), stop() {} });
  await leadership.begin();
  await leadership.turned();
  isBroken = false;
  database.look();
  await leadership.turned();
  await leadership.turned();
  assert.deepEqual(doing, ["two starts", "one starts"]);
  assert.equal(log.lines.filter((line) => line.startsWith("error")).length, 1);
  await leadership.end();
  assert.deepEqual(doing.at(-1), "one stops");
});
