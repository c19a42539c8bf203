import assert from "node:assert/strict";
import { namedExecutable } from "../support/executable.ts";
import { peer } from "../support/peers.ts";
import { live } from "../soak/days.ts";
import { PUSH_EVERY } from "../soak/hour.ts";

Deno.test({
  name: "a soak that lasts until the first push does all of its work, and measures it",
  // The executable has no inspector, which measures the threads.
  ignore: peer("fossil").ignore || namedExecutable() !== undefined,
  fn: async () => {
    const { rounds, trends } = await live(PUSH_EVERY, { hourMs: 0 });
    assert.equal(rounds, PUSH_EVERY);
    const names = trends.map(({ name }) => name);
    const costs = ["reads", "pages", "posts", "commits"];
    assert.deepEqual(names, [...costs, "live memory", "memory of all processes", "files"]);
    for (const { name, first, last } of trends) {
      assert.ok(first.value > 0 && last.value > 0, name);
    }
  },
});
