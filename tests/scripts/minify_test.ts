import assert from "node:assert/strict";
import { stop } from "esbuild";
import { join } from "node:path";
import { minify, minifyBundle } from "../../scripts/minify.ts";
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

Deno.test("a script of packages gets short names inside, and one of ours keeps them", async () => {
  const module = (path: string, length: number) =>
    `// ${path}\nfunction longName(longValue) { return "${"x".repeat(length)}" + longValue; }\n`;
  const scripts = (path: string, other: string) =>
    `${module(path, 1000)}// ${other}\nexport { longName };\n`;
  const npm = "../.cache/deno/npm/registry.npmjs.org/kysely/0.29.9/dist/index.js";
  try {
    const theirs = await minify(scripts(npm, "services/a.ts"));
    assert.ok(!theirs.includes("longValue"), theirs);
    assert.match(theirs, /export\{\w as longName\}/);
    const ours = await minify(scripts("services/a.ts", npm));
    assert.ok(ours.includes("longValue"), ours);
  } finally {
    await stop();
  }
});

Deno.test("a resource that is used once is still disposed of", async () => {
  try {
    const script = await minify(`
      function read() {
        using file = { [Symbol.dispose]() { log.push("closed"); }, sync() { log.push("synced"); } };
        file.sync();
        log.push("end");
      }
      export const log = [];
      read();
    `);
    const module = await import(`data:text/javascript,${encodeURIComponent(script)}`);
    assert.deepEqual(module.log, ["synced", "end", "closed"]);
  } finally {
    await stop();
  }
});
