import assert from "node:assert/strict";
import { formatEnvelope, readableEnvelope } from "../../../../services/chat/bridge/mod.ts";

Deno.test("people read an envelope as one line of text", () => {
  const shown = (more: { to?: string[]; payload?: Record<string, unknown> }) =>
    readableEnvelope(formatEnvelope({ type: "task.create", from: "boss", ...more }, 0));
  assert.equal(shown({ payload: { title: "Map the code" } }), "task.create: Map the code");
  assert.equal(shown({ payload: { title: "a\n\x01b" } }), "task.create: a  b");
  assert.equal(shown({ to: ["a", "b", "c", "d"] }), "task.create to a, b, c and 1 more");
  assert.equal(shown({ payload: { done: true, n: 3, x: {} } }), "task.create: done=true, n=3");
  assert.equal(shown({}), "task.create");
  assert.equal(readableEnvelope('{"v":2}'), null);
  assert.equal(readableEnvelope("{ hello }"), null);
});
