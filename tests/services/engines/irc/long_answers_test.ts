import assert from "node:assert/strict";
import { setImmediate } from "node:timers";
import { Pace } from "../../../../services/engines/irc/state.ts";
import { startServer, type TestServer } from "./support/server.ts";
import { THOROUGH } from "../../../support/level.ts";

/** Channels with names that worst-case masks nearly match. */
async function makeChannels(server: TestServer, count: number): Promise<void> {
  const owner = await server.internal("owner", { privileged: true });
  for (let index = 0; index < count; index++) owner.send(`JOIN #${"a".repeat(70)}${index}`);
  await owner.sync();
}

Deno.test("a list of targets is bounded, and each is answered once", async () => {
  await using server = startServer();
  const bob = await server.client("bob");
  bob.send("JOIN #c");
  await bob.sync();
  const many = Array.from({ length: 21 }, (_, index) => `#c${index}`).join(",");
  bob.send(`LIST ${many}`, `NAMES ${many}`, `KICK #c ${many.replaceAll("#", "")}`);
  const refused = await bob.sync();
  assert.deepEqual(
    refused.map((line) => line.slice(0, 12)),
    Array(3).fill("407 bob #c20").map(
      (line, index) => index === 2 ? "407 bob c20 " : line,
    ),
  );
  bob.send(`NAMES ${Array(1000).fill("#c").join(",")}`);
  assert.equal((await bob.sync()).filter((line) => line.startsWith("353")).length, 1);
  bob.send(`MODE #c ${"+m-m".repeat(2000)}`);
  const modes = (await bob.sync()).join(" ").match(/m/g) ?? [];
  assert.ok(modes.length <= 100, `${modes.length} changes`);
  bob.send(`MONITOR + ${Array(1000).fill("bob").join(",")}`);
  assert.equal((await bob.sync()).join(" ").match(/bob!/g)?.length, 1);
});

Deno.test("a long answer is made in many turns of the event loop", THOROUGH, async () => {
  await using server = startServer();
  await makeChannels(server, 2000);
  const alice = await server.client("alice");
  const masks = Array.from({ length: 20 }, (_, index) => `*${"a".repeat(60)}b${index}`).join(",");
  alice.send(`LIST ${masks}`);
  let isListed = false;
  const listed = alice.until("323").then(() => isListed = true);
  let turns = 0;
  for (; !isListed; turns++) await new Promise<void>((resolve) => setImmediate(resolve));
  await listed;
  assert.ok(turns >= 10, `${turns} turns`);
});

Deno.test("long answers share the time of a turn, and each goes on", async () => {
  const pace = new Pace();
  const order: number[] = [];
  let turns = 0;
  let isDone = false;
  const count = () =>
    setImmediate(() => {
      turns++;
      if (!isDone) count();
    });
  count();
  const answer = async (id: number) => {
    for (let pauses = 0; pauses < 3;) {
      const pause = pace.step();
      if (pause === null) continue;
      await pause;
      order.push(id);
      pauses++;
    }
  };
  await Promise.all([answer(1), answer(2)]);
  isDone = true;
  assert.ok(turns >= 6, `${turns} turns`);
  assert.deepEqual(order, [1, 2, 1, 2, 1, 2]);
});
