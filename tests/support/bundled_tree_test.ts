import assert from "node:assert/strict";
import { hashTree } from "./bundled_tree.ts";
import { withFolder, writeFile } from "./temporary.ts";

Deno.test("a change of any source asks for another bundle, and a change of a test does not", async () => {
  await withFolder(async (folder) => {
    for (const name of ["services/engines/irc", "tests/irc", "dist"]) {
      Deno.mkdirSync(`${folder}/${name}`, { recursive: true });
    }
    await writeFile(folder, "main.ts", "run(1);");
    const seen = [hashTree(folder)];
    const assertNew = () => {
      const hash = hashTree(folder);
      assert.ok(!seen.includes(hash));
      seen.push(hash);
    };
    await writeFile(folder, "main.ts", "run(2);");
    assertNew();
    await writeFile(folder, "deno.lock", "{}");
    assertNew();
    await writeFile(folder, "services/engines/irc/page.css", "b");
    assertNew();
    Deno.renameSync(
      `${folder}/services/engines/irc/page.css`,
      `${folder}/services/engines/irc/frame.css`,
    );
    assertNew();
    Deno.removeSync(`${folder}/services/engines/irc/frame.css`);
    assert.equal(hashTree(folder), seen[2]);
    await writeFile(folder, "tests/irc/one_test.ts", "");
    await writeFile(folder, "dist/muster", "");
    assert.equal(hashTree(folder), seen[2]);
  });
});
