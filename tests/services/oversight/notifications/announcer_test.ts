import assert from "node:assert/strict";
import { Announcer } from "../../../../services/oversight/notifications/mod.ts";
import { TestScheduler } from "../../../support/scheduler.ts";
import { TestLog } from "../../../support/services.ts";

/** An announcer, and what it says as `place: text`. */
function world() {
  const scheduler = new TestScheduler();
  const said: string[] = [];
  const log = new TestLog();
  const announcer = new Announcer({
    say: (place, text) => {
      if (place === "#gone") return Promise.reject(new Error("Nobody is there"));
      said.push(`${place}: ${text}`);
      return Promise.resolve();
    },
    scheduler,
    log,
  });
  const pass = async (milliseconds: number) => {
    scheduler.advance(milliseconds);
    await announcer.idle();
    return said.splice(0);
  };
  return { announcer, log, pass };
}

Deno.test("a burst of 50 lines of a kind is one line, and one that stands for the others", async () => {
  const { announcer, pass } = world();
  for (let number = 1; number <= 50; number++) {
    announcer.announce("#demo", { kind: "checkin", text: `line ${number}` });
  }
  assert.deepEqual(await pass(0), ["#demo: line 1"]);
  assert.deepEqual(await pass(999), []);
  assert.deepEqual(await pass(1), ["#demo: … and 49 more check-ins"]);
  announcer.announce("#demo", { kind: "checkin", text: "line 51" });
  assert.deepEqual(await pass(999), []);
  assert.deepEqual(await pass(1), ["#demo: line 51"]);
  assert.deepEqual(await pass(5000), []);
  announcer.announce("#demo", { kind: "checkin", text: "line 52" });
  assert.deepEqual(await pass(0), ["#demo: line 52"]);
});

Deno.test("kinds and channels have a pace of their own", async () => {
  const { announcer, pass } = world();
  for (const place of ["#one", "#two"]) {
    for (const kind of ["claim", "review"]) announcer.announce(place, { kind, text: kind });
  }
  assert.deepEqual((await pass(0)).sort(), [
    "#one: claim",
    "#one: review",
    "#two: claim",
    "#two: review",
  ]);
});

Deno.test("a channel that takes no lines is logged once, and holds up no other", async () => {
  const { announcer, log, pass } = world();
  for (const kind of ["claim", "review", "wiki"]) {
    announcer.announce("#gone", { kind, text: "lost" });
    announcer.announce("#here", { kind, text: kind });
  }
  assert.deepEqual(await pass(0), ["#here: claim", "#here: review", "#here: wiki"]);
  assert.equal(log.lines.length, 1);
});
