import assert from "node:assert/strict";
import { AgentTexts } from "../../../services/agents/listing.ts";
import { type AgentRow, type AgentState, describeAgent } from "../../../services/agents/records.ts";

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

Deno.test("an agent's JSON has what changes without its record", () => {
  const texts = new AgentTexts();
  const states: readonly AgentState[] = [
    { lastSeen: null, online: false, messagesPerMinute: 0 },
    { lastSeen: null, online: false, messagesPerMinute: 0 },
    { lastSeen: 1000, online: false, messagesPerMinute: 0 },
    { lastSeen: 1000, online: true, messagesPerMinute: 0 },
    { lastSeen: 1000, online: true, messagesPerMinute: 7 },
    { lastSeen: 2000, online: true, messagesPerMinute: 7 },
    { lastSeen: null, online: false, messagesPerMinute: 0 },
  ];
  for (const state of states) {
    assert.equal(texts.of(ROW, state), JSON.stringify(describeAgent(ROW, state)));
  }
  const limited = { ...ROW, messages_per_second: 2, burst: 10, paused_at: 5, pause_reason: '"' };
  const [state] = states;
  assert.ok(state !== undefined);
  assert.equal(texts.of(limited, state), JSON.stringify(describeAgent(limited, state)));
});
