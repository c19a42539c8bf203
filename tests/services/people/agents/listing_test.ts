import assert from "node:assert/strict";
import { AgentTexts } from "../../../../services/people/agents/listing.ts";
import {
  type AgentRow,
  type AgentState,
  describeAgent,
} from "../../../../services/people/agents/records.ts";

const ROW: AgentRow = {
  account_id: "1",
  name: "scout",
  type: "worker",
  channels: '["#general"]',
  registered_at: 0,
  revoked_at: null,
  last_seen: null,
  paused_at: null,
  pause_reason: null,
  messages_per_second: null,
  burst: null,
  slots: null,
};

const OTHER: AgentRow = { ...ROW, account_id: "2", name: "baker" };

Deno.test("a list of agents has what changes without their records, and every change of one", async () => {
  const texts = new AgentTexts();
  const idle: AgentState = { lastSeen: null, online: false, messagesPerMinute: 0 };
  const states: readonly AgentState[] = [
    idle,
    { ...idle },
    { ...idle, lastSeen: 1000 },
    { ...idle, lastSeen: 1000, online: true },
    { ...idle, lastSeen: 1000, online: true, messagesPerMinute: 7 },
    { ...idle, lastSeen: 2000, work: { state: "working", quietMinutes: 3 } },
    { ...idle, lastSeen: 2000, work: { state: "working", quietMinutes: 4 } },
    { ...idle, lastSeen: 2000, work: { state: "away", quietMinutes: null } },
    idle,
  ];
  const limited = { ...ROW, messages_per_second: 2, burst: 10, paused_at: 5, pause_reason: '"' };
  for (const rows of [[ROW, OTHER], [OTHER, ROW], [ROW], [limited, OTHER], [], [ROW, OTHER]]) {
    for (const changed of states) {
      const stateOf = (row: AgentRow) => row === OTHER ? changed : idle;
      const expected = JSON.stringify(rows.map((row) => describeAgent(row, stateOf(row))));
      assert.equal(await texts.list(rows, stateOf), expected);
    }
  }
});
