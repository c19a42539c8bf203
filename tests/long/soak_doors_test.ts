import assert from "node:assert/strict";
import { workAtBothDoors } from "../soak/doors/work.ts";
import { peer } from "../support/peers.ts";

Deno.test({
  name: "three people work through git, fossil and the API, and both doors show the same",
  ignore: peer("fossil").ignore || peer("git").ignore,
  fn: async () => {
    const { commits, objects } = await workAtBothDoors(40, 20_261_130);
    assert.ok(commits > 10 && objects > 10, `${commits} commits, ${objects} objects`);
  },
});
