import assert from "node:assert/strict";
import { peer } from "../support/peers.ts";
import { cloneAtRandom } from "../soak/clones.ts";

Deno.test({
  name: "three people change a project at random, and their clones end equal and sound",
  ignore: peer("fossil").ignore || peer("newer fossil").ignore,
  fn: async () => {
    const operations = 40;
    const { artifacts } = await cloneAtRandom(operations, 20_261_128);
    // How many there are depends on the clock: clients write clusters, and amend within a second.
    assert.ok(artifacts > operations, `${artifacts}`);
  },
});
