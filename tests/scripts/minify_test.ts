import assert from "node:assert/strict";
import { join } from "node:path";
import { minifyBundle } from "../../scripts/minify.ts";
import { withFolder, writeFile } from "../support/temporary.ts";

const SCRIPT = `// A comment
class NotFound extends Error {
  get name() { return this.constructor.name; }
}
const greeting = "Grüße – 😀";
console.log(greeting, \`\${greeting} é\`, new NotFound().name);
`;

Deno.test("a bundle gets smaller and ASCII, does the same, and keeps its names", async () => {
  await withFolder(async (folder) => {
    await Deno.mkdir(join(folder, "services"));
    const script = await writeFile(join(folder, "services"), "a.js", SCRIPT);
    const other = await writeFile(folder, "assets.txt", "é");
    const run = async () => {
      const { stdout } = await new Deno.Command(Deno.execPath(), { args: ["run", script] })
        .output();
      return new TextDecoder().decode(stdout);
    };
    const before = await run();
    await minifyBundle(folder);
    const text = await Deno.readTextFile(script);
    assert.match(text, /^[\x20-\x7e\n]+$/);
    assert.ok(text.length < SCRIPT.length && !text.includes("comment"), text);
    assert.equal(await run(), before);
    assert.equal(before, "Grüße – 😀 Grüße – 😀 é NotFound\n");
    assert.equal(await Deno.readTextFile(other), "é");
  });
});
