import assert from "node:assert/strict";
import { seenLast } from "../../../services/attention/mod.ts";

Deno.test("the agents that were seen last come first, however many are asked for", () => {
  const times = [5, null, 80, 3, 80, 12, null, 40, 1, 99];
  const agents = Array.from({ length: 300 }, (_, index) => ({
    name: `agent-${index}`,
    lastSeen: index < times.length ? times[index] ?? null : null,
  }));
  const sorted = agents.toSorted((one, other) => (other.lastSeen ?? 0) - (one.lastSeen ?? 0));
  for (const limit of [0, 1, 3, 5, 50, 51, 299, 300, 1000]) {
    assert.deepEqual(
      seenLast(agents, limit).map(({ name }) => name),
      sorted.slice(0, limit).map(({ name }) => name),
      `${limit}`,
    );
  }
});
