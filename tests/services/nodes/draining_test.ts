import assert from "node:assert/strict";
import { silentLog } from "../../../services/log.ts";
import { Draining, type NodeRecord } from "../../../services/nodes/mod.ts";
import { TestScheduler } from "../../support/scheduler.ts";

Deno.test("a node that was drained just after another change leads no more", async () => {
  const doing: string[] = [];
  let changed = () => {};
  let record: NodeRecord = {
    name: "a",
    url: "http://a.example",
    version: "1",
    startedAt: 0,
    drainedAt: null,
  };
  const draining = new Draining({
    nodes: {
      self: "a",
      find: () => record,
      onChanged(listener) {
        changed = listener;
        return () => {};
      },
    },
    leadership: {
      begin: () => Promise.resolve(void doing.push("begins")),
      end: () => Promise.resolve(void doing.push("ends")),
    },
    scheduler: new TestScheduler(),
    log: silentLog,
  });
  await draining.begin();
  changed();
  record = { ...record, drainedAt: 1 };
  changed();
  await draining.end();
  assert.deepEqual(doing, ["begins", "ends"]);
});
