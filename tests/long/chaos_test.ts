import assert from "node:assert/strict";
import { clusterPeers } from "../support/real_cluster.ts";
import { peer } from "../support/peers.ts";
import { disturb } from "../soak/cluster/chaos.ts";

Deno.test({
  name: "a killed, a drained node and a restart of PostgreSQL lose and repeat nothing",
  ignore: clusterPeers().ignore || peer("fossil").ignore,
  fn: async () => {
    const sizes = { agents: 6, channels: 2, projects: 3, seconds: 14 };
    const lines: string[] = [];
    const { faults, counts } = await disturb({
      sizes,
      seed: 20_261_126,
      tell: (line) => lines.push(line),
    });
    assert.deepEqual(faults, [], lines.join("\n"));
    for (
      const what of [
        ...["messages acknowledged", "private messages acknowledged", "questions answered"],
        ...["tokens revoked", "agents revoked", "pushes acknowledged", "contests with a winner"],
      ]
    ) {
      assert.ok((counts.get(what) ?? 0) > 0, `${what}: ${Deno.inspect(counts)}`);
    }
  },
});
