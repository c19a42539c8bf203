import assert from "node:assert/strict";
import { peer } from "../support/peers.ts";
import { soak } from "../soak/kills.ts";

Deno.test({
  name: "kill -9 in a mixed load loses nothing acknowledged, and leaves nothing half done",
  ...peer("fossil"),
  fn: async () => {
    const { acknowledged } = await soak(2, 20_261_122);
    assert.ok(acknowledged > 20, `${acknowledged}`);
  },
});
