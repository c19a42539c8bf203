import assert from "node:assert/strict";
import { peer } from "../support/peers.ts";
import { cloneAtRandom } from "../soak/clones.ts";

Deno.test({
  name: "three people change a project at random, and their clones end equal and sound",
  ignore: peer("fossil").ignore || peer("newer fossil").ignore,
  fn: async () => {
    const { artifacts } = await cloneAtRandom(40, 20_261_128);
    assert.ok(artifacts > 60, `${artifacts}`);
  },
});
