import assert from "node:assert/strict";
import type { AgentPresence } from "../../../../services/people/agents/mod.ts";
import { atWork, type BoardSources } from "../../../../services/oversight/attention/agent_board.ts";
import { seenLast } from "../../../../services/oversight/attention/mod.ts";
import type { Claim } from "../../../../services/work/tickets/mod.ts";
import { quietText } from "../../../../services/people/work_states.ts";

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

Deno.test("one function decides what an agent does, for every door", () => {
  const minute = 60_000;
  const now = 100 * minute;
  const presence = (more: Partial<AgentPresence>): AgentPresence => {
    const last = { lastSeen: now - 4.5 * minute, online: false };
    return Object.assign({ id: "1", nick: "a", isPaused: false, isHalted: false }, last, more);
  };
  const none: BoardSources = { claims: new Map(), waiting: new Set(), busy: new Set(), now };
  const withClaim: BoardSources = { ...none, claims: new Map([["1", [{} as Claim]]]) };
  const cases: readonly [Partial<AgentPresence>, BoardSources, string][] = [
    [{}, none, "away"],
    [{ online: true }, none, "idle"],
    [{}, withClaim, "working, quiet for 4 min"],
    [{ online: true }, withClaim, "working"],
    [{}, { ...none, busy: new Set(["1"]) }, "working, quiet for 4 min"],
    [{ lastSeen: now }, { ...none, busy: new Set(["1"]) }, "working, quiet for 0 min"],
    [{ lastSeen: now - 120 * minute }, withClaim, "working, quiet for 2 h"],
    [{}, { ...withClaim, waiting: new Set(["1"]) }, "needs input"],
    [{ isHalted: true }, { ...withClaim, waiting: new Set(["1"]) }, "halted"],
  ];
  for (const [more, sources, expected] of cases) {
    const { state, quietMinutes } = atWork(presence(more), sources);
    const told = [state, quietText(quietMinutes)].filter(Boolean).join(", ");
    assert.equal(told, expected, Deno.inspect(more));
  }
});
