import assert from "node:assert/strict";
import { decide } from "../soak/questions.ts";

Deno.test("kill -9 loses no question and no answer, and a default counts once", async () => {
  const { asked, ended, expired } = await decide(2, 20_261_123);
  assert.ok(asked > 10 && ended > 3 && expired > 0, `${asked} asked, ${ended} + ${expired} ended`);
});
