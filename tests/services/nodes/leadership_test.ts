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
