import assert from "node:assert/strict";
import { IrcUser, withBridge } from "../services/chat/bridge/support.ts";
import { asked, until, within } from "./until.ts";

Deno.test("a wait for a condition that never holds ends with its source", async () => {
  const numbers: number[] = [];
  await assert.rejects(
    until(() => numbers.length > 2, 1),
    /within 1 ms: .*numbers\.length > 2/,
  );
});

Deno.test("a wait for a line that never comes ends with the pattern and the last lines", () =>
  withBridge(async ({ server }) => {
    const bob = new IrcUser(server, "bob");
    await bob.join("#room");
    await assert.rejects(
      bob.expect(/ 999 /, 1),
      /^Error: bob received no \/ 999 \/; the last lines:[^]* 366 bob #room /,
    );
    bob.send("PING :still here");
    assert.match(await bob.expect(/PONG/), /still here/);
  }));

Deno.test("a question whose answer never becomes right ends with the last answer", async () => {
  let number = 0;
  await assert.rejects(
    asked(() => Promise.resolve(++number), (answer) => answer > 5, 1),
    /^Error: After 1 ms, the answer is \d$/,
  );
  assert.equal(await asked(() => Promise.resolve(++number), (answer) => answer > 5), 6);
});

Deno.test("a wait for what never comes ends with its name", async () => {
  await assert.rejects(
    within(new Promise(() => {}), () => "The answer", 1),
    /^Error: The answer did not come within 1 ms$/,
  );
  assert.equal(await within(Promise.resolve(7), () => "The answer", 1), 7);
});
