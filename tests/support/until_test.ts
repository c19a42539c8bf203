import assert from "node:assert/strict";
import { IrcUser, withBridge } from "../services/bridge/support.ts";
import { until } from "./until.ts";

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
