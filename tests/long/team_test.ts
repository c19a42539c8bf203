import assert from "node:assert/strict";
import { networkPeers } from "../support/network.ts";
import { play } from "../soak/team/play.ts";

Deno.test("in a team of twenty agents and two people, every bot does its part", async () => {
  const { ledger, said, acknowledged } = await play({ minutes: 0 });
  assert.deepEqual(ledger.missing(), []);
  assert.ok(said > 0 && acknowledged > 0, `${said} said, ${acknowledged} acknowledged`);
});

Deno.test({
  name: "on InspIRCd with Atheme, the bots that work there do the same",
  ignore: networkPeers("atheme").ignore,
  fn: async () => {
    const { ledger } = await play({ minutes: 0, onNetwork: true });
    assert.deepEqual(ledger.missing(), []);
  },
});
