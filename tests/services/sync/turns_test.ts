import assert from "node:assert/strict";
import { TooMany } from "../../../services/errors.ts";
import { Turns } from "../../../services/sync/turns.ts";

const { signal } = new AbortController();

Deno.test("tasks of one caller run in their order, and those of others beside them", async () => {
  const turns = new Turns({ atOnce: 1, maxWaiting: 2 });
  const gate = Promise.withResolvers<void>();
  const order: string[] = [];
  const task = (name: string, wait = Promise.resolve()) => async () => {
    await wait;
    order.push(name);
    return name;
  };
  const first = turns.run("a", task("a1", gate.promise), signal);
  const waiting = [turns.run("a", task("a2"), signal), turns.run("a", task("a3"), signal)];
  await assert.rejects(turns.run("a", task("a4"), signal), TooMany);
  assert.equal(await turns.run("b", task("b1"), signal), "b1");
  gate.resolve();
  assert.deepEqual(await Promise.all([first, ...waiting]), ["a1", "a2", "a3"]);
  assert.deepEqual(order, ["b1", "a1", "a2", "a3"]);
});

Deno.test("a task that fails, and one whose caller has gone, leave their turn to the next", async () => {
  const turns = new Turns({ atOnce: 1, maxWaiting: 5 });
  const gate = Promise.withResolvers<void>();
  const fails = turns.run(
    "a",
    () => gate.promise.then(() => Promise.reject(new Error("no"))),
    signal,
  );
  const gone = new AbortController();
  let hasRun = false;
  const absent = turns.run("a", () => Promise.resolve(void (hasRun = true)), gone.signal);
  const last = turns.run("a", () => Promise.resolve("last"), signal);
  gone.abort();
  gate.resolve();
  const [failed, aborted] = await Promise.allSettled([fails, absent]);
  assert.deepEqual([failed.status, aborted.status, hasRun], ["rejected", "rejected", false]);
  assert.equal(await last, "last");
});
