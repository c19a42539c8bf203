import assert from "node:assert/strict";
import { PAGES, WITHOUT_FORMS } from "../../web/table.ts";

Deno.test("the table names exactly the pages without a form, which take no POST", async () => {
  const without: string[] = [];
  for (const [path, load] of Object.entries(PAGES)) {
    const { page: { actions = {} } } = await load();
    if (Object.keys(actions).length === 0) without.push(path);
  }
  assert.deepEqual(without.sort(), [...WITHOUT_FORMS].sort());
});
