import assert from "node:assert/strict";
import type { HomeListener, Project } from "../../../../services/work/projects/mod.ts";
import { NO_SETTINGS } from "../../../../services/work/projects/settings.ts";
import { Takeovers } from "../../../../services/work/projects/takeovers.ts";
import { TestScheduler } from "../../../support/scheduler.ts";
import { TestLog } from "../../../support/services.ts";
import { until } from "../../../support/until.ts";

const PROJECT: Project = {
  id: "p",
  slug: "demo",
  name: "",
  description: "",
  visibility: "private",
  channel: null,
  settings: NO_SETTINGS,
  createdAt: 0,
  archivedAt: null,
  home: "a",
};

/** Takeovers on a node, and what a test does with them. */
function makeTakeovers(catchUp: () => Promise<void>) {
  const scheduler = new TestScheduler();
  let change: HomeListener = () => {};
  const takeovers = new Takeovers({
    files: { forget: () => Promise.resolve(), setAside: () => Promise.resolve(null) },
    intentions: { reload: () => Promise.resolve() },
    places: { forget() {}, reload: () => Promise.resolve() },
    homes: {
      self: "a",
      isHere: () => true,
      settle() {},
      onChanged: (listener) => change = listener,
    },
    scheduler,
    log: new TestLog(),
    alone: () => Promise.resolve({ [Symbol.dispose]() {} }),
    catchUp,
  });
  return { scheduler, takeovers, arrive: () => change(PROJECT, true) };
}

Deno.test("a node closes once it has taken over what came to it", async () => {
  const [isCatchingUp, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const doing: string[] = [];
  const { takeovers, arrive } = makeTakeovers(async () => {
    isCatchingUp.resolve();
    await mayEnd.promise;
    doing.push("taken over");
  });
  arrive();
  await isCatchingUp.promise;
  const closed = takeovers.close().then(() => doing.push("closed"));
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
  mayEnd.resolve();
  await closed;
  assert.deepEqual(doing, ["taken over", "closed"]);
});

Deno.test("a node that is closed tries no more to take over a project", async () => {
  let attempts = 0;
  const { scheduler, takeovers, arrive } = makeTakeovers(() => {
    attempts++;
    return Promise.reject(new Error("The database is away"));
  });
  arrive();
  await until(() => scheduler.pending > 0);
  scheduler.advance(5000);
  await until(() => attempts === 2 && scheduler.pending > 0);
  await takeovers.close();
  assert.equal(scheduler.pending, 0);
  arrive();
  assert.equal(attempts, 2);
});
