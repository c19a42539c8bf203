import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../scripts/bundle.ts";
import { TREE_ONLY } from "./tree_only.ts";

Deno.test("what does not run with the executable exists, and is covered by what does", () => {
  const exists = (name: string) => existsSync(join(ROOT, "tests", "end_to_end", name));
  for (const [name, cover] of TREE_ONLY) {
    assert.ok(exists(name), `${name} is gone`);
    assert.ok(exists(cover) && !TREE_ONLY.has(cover), `${cover} does not run with the executable`);
  }
});
