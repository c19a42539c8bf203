import assert from "node:assert/strict";
import { join } from "node:path";
import { PURPOSES } from "../../services/chat/policies/mod.ts";
import { ROOT } from "./pages.ts";

Deno.test("the documentation says of each bot what the program says", async () => {
  const text = (await Deno.readTextFile(join(ROOT, "docs", "bots.md"))).replace(/\s+/g, " ");
  const missing = Object.entries(PURPOSES).filter(([bot, purpose]) =>
    bot !== "bridge" && !text.includes(purpose)
  );
  assert.deepEqual(missing, []);
});
