import assert from "node:assert/strict";
import { eventOf, maySpeak, outputOf } from "../../cli/hook/formats.ts";

/**
 * The events at which a client takes context, and its end of a turn.
 * https://code.claude.com/docs/en/hooks, https://developers.openai.com/codex/hooks (and
 * codex-rs/hooks/schema in github.com/openai/codex), https://geminicli.com/docs/hooks/reference
 */
const CLIENTS = [
  ["claude", ["SessionStart", "UserPromptSubmit", "PostToolUse"], "Stop", "block"],
  ["codex", ["SessionStart", "UserPromptSubmit", "PostToolUse"], "Stop", "block"],
  ["gemini", ["SessionStart", "BeforeAgent", "AfterTool"], "AfterAgent", "deny"],
] as const;

for (const [client, events, ending, decision] of CLIENTS) {
  Deno.test(`${client} gets a text in the form that the hook of each event expects`, () => {
    for (const name of events) {
      const event = { name, isRepeated: false };
      assert.ok(maySpeak(client, event));
      assert.deepEqual(JSON.parse(outputOf(client, event, "text")), {
        hookSpecificOutput: { hookEventName: name, additionalContext: "text" },
      });
    }
    const ended = { name: ending, isRepeated: false };
    assert.ok(maySpeak(client, ended));
    assert.deepEqual(JSON.parse(outputOf(client, ended, "text")), { decision, reason: "text" });
    assert.ok(!maySpeak(client, { name: ending, isRepeated: true }));
    for (const name of ["PreToolUse", "BeforeTool", "Notification", "SessionEnd", "PreCompact"]) {
      assert.ok(!maySpeak(client, { name, isRepeated: false }), name);
    }
  });
}

Deno.test("the event is read from the client's input, even from one that was cut off", () => {
  const input = { session_id: "s", hook_event_name: "Stop", stop_hook_active: true };
  assert.deepEqual(eventOf(JSON.stringify(input)), { name: "Stop", isRepeated: true });
  const long = JSON.stringify({ hook_event_name: "PostToolUse", tool_response: "x".repeat(1000) });
  assert.deepEqual(eventOf(long.slice(0, 500)), { name: "PostToolUse", isRepeated: false });
  for (const text of ["", "null", "[]", "{}", '{"hook_event_name": 1}', "no JSON"]) {
    assert.equal(eventOf(text), null, text);
  }
});
