import assert from "node:assert/strict";
import { ProjectMoves, type ProjectMovesOptions } from "../../../../services/cluster/moves/mod.ts";
import { TestScheduler } from "../../../support/scheduler.ts";

Deno.test("close() waits until no copy of a moved project is being removed", async () => {
  const removed = Promise.withResolvers<void>();
  const scheduler = new TestScheduler();
  const options = {
    repositories: { files: { removeMoved: () => removed.promise } },
    nodes: { self: "one" },
    scheduler,
  };
  const moves = new ProjectMoves(options as unknown as ProjectMovesOptions);
  moves.start();
  const order: string[] = [];
  const closed = moves.close().then(() => order.push("closed"));
  await new Promise((resolve) => setTimeout(resolve));
  order.push("removed");
  removed.resolve();
  await closed;
  assert.deepEqual(order, ["removed", "closed"]);
  assert.equal(scheduler.pending, 0);
});
