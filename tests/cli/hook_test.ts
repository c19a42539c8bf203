import assert from "node:assert/strict";
import { eventOf, maySpeak, outputOf, timeLeft } from "../../cli/hook.ts";

const CLAUDE = ["SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure"];

/**
 * The events at which a client takes context, and its end of a turn.
 * https://code.claude.com/docs/en/hooks, https://developers.openai.com/codex/hooks (and
 * codex-rs/hooks/schema in github.com/openai/codex), https://geminicli.com/docs/hooks/reference,
 * https://docs.github.com/en/copilot/reference/hooks-reference,
 * https://qwenlm.github.io/qwen-code-docs/en/users/features/hooks
 */
const CLIENTS = [
  ["claude", CLAUDE, "Stop", "block"],
  ["codex", CLAUDE.slice(0, 3), "Stop", "block"],
  ["gemini", ["SessionStart", "BeforeAgent", "AfterTool"], "AfterAgent", "deny"],
  ["copilot", CLAUDE, "Stop", "block"],
  ["qwen", CLAUDE, "Stop", "block"],
] as const;

for (const [client, events, ending, decision] of CLIENTS) {
  Deno.test(`${client} gets a text in the form that the hook of each event expects`, () => {
    for (const name of events) {
      const event = { name, session: null, isRepeated: false };
      assert.ok(maySpeak(client, event));
      const context = { additionalContext: "text" };
      assert.deepEqual(
        JSON.parse(outputOf(client, event, "text")),
        client === "copilot"
          ? context
          : { hookSpecificOutput: { hookEventName: name, ...context } },
      );
    }
    const ended = { name: ending, session: null, isRepeated: false };
    assert.ok(maySpeak(client, ended));
    assert.deepEqual(JSON.parse(outputOf(client, ended, "text")), { decision, reason: "text" });
    assert.ok(!maySpeak(client, { ...ended, isRepeated: true }));
    for (const name of ["PreToolUse", "BeforeTool", "Notification", "SessionEnd", "PreCompact"]) {
      assert.ok(!maySpeak(client, { ...ended, name }), name);
    }
  });
}

Deno.test("the event is read from the client's input, even from one that was cut off", () => {
  const input = { session_id: "s", hook_event_name: "Stop", stop_hook_active: true };
  const stop = { name: "Stop", session: "s", isRepeated: true };
  assert.deepEqual(eventOf(JSON.stringify(input)), stop);
  const named = { session_id: "s-1", hook_event_name: "PostToolUse" };
  const long = JSON.stringify({ ...named, tool_response: "x".repeat(1000) });
  const cut = { name: "PostToolUse", session: "s-1", isRepeated: false };
  assert.deepEqual(eventOf(long.slice(0, 500)), cut);
  const nameless = JSON.stringify({ hook_event_name: "Stop" });
  assert.deepEqual(eventOf(nameless), { name: "Stop", session: null, isRepeated: false });
  for (const text of ["", "null", "[]", "{}", '{"hook_event_name": 1}', "no JSON"]) {
    assert.equal(eventOf(text), null, text);
  }
});

Deno.test("a hook waits until the whole process has taken its time, and less under load", () => {
  assert.equal(timeLeft(10, 10), 95, "60 ms before the clock and 10 after it, on an idle machine");
  assert.equal(timeLeft(10, 60), 45);
  assert.equal(timeLeft(30, 30), 45, "90 ms before the clock");
  assert.equal(timeLeft(10, 500), 20, "A server on this machine can still answer");
  assert.equal(timeLeft(200, 200), 20);
});
