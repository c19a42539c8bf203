import assert from "node:assert/strict";
import { InputQueue } from "../../../../services/chat/bots/bot_runner.ts";

Deno.test("a full queue drops inputs, and no task of the bot itself", async () => {
  const dropped: number[] = [];
  const queue = new InputQueue(
    (error) => assert.fail(String(error)),
    (count) => dropped.push(count),
  );
  const { promise, resolve } = Promise.withResolvers<void>();
  queue.add(() => promise);
  const done = { inputs: 0, own: 0 };
  for (let input = 0; input < 1002; input++) queue.add(() => void done.inputs++);
  queue.addOwn(() => void done.own++);
  resolve();
  await queue.idle();
  assert.deepEqual({ ...done, dropped }, { inputs: 1000, own: 1, dropped: [2] });
});
