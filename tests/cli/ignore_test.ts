/** The rules of `.gitignore` files, beside the `git` program. */
import assert from "node:assert/strict";
import { IgnoreRules } from "../../cli/folder/ignore.ts";
import { GitClient } from "../support/git_client.ts";
import { peer } from "../support/peers.ts";

const RULES = [
  "*.log",
  "!keep.log",
  "/top",
  "build/",
  "docs/*.txt",
  "a/**/z",
  "**/deep/x",
  "all/**",
  "# a comment",
  "\\#hash",
  "\\!bang",
  "with\\ space ",
  "trailing   ",
  "[ab]?c",
  "[!q]uit",
  "star\\*",
  "**",
  "!*",
  "!**/",
  "*.tmp",
  "x/y/",
  "**/",
  "!/",
  "",
];

const PATHS = [
  "a.log",
  "keep.log",
  "sub/keep.log",
  "sub/b.log",
  "top",
  "sub/top",
  "build",
  "build/x",
  "sub/build/x",
  "docs/a.txt",
  "docs/sub/a.txt",
  "a/z",
  "a/b/z",
  "a/b/c/z",
  "deep/x",
  "q/deep/x",
  "all/one",
  "all/sub/two",
  "#hash",
  "!bang",
  "with space",
  "trailing",
  "abc",
  "bxc",
  "cxc",
  "quit",
  "suit",
  "star*",
  "starx",
  "f.tmp",
  "x/y/f",
  "z/x/y/f",
];

/** Whether a path is left out, folder by folder, as a walk finds it. */
function isLeftOut(rules: IgnoreRules, path: string): boolean {
  const parts = path.split("/");
  return parts.some((_, place) =>
    rules.leavesOut(parts.slice(0, place + 1).join("/"), place < parts.length - 1)
  );
}

Deno.test({
  name: "rules leave out what git leaves out",
  ...peer("git"),
  async fn() {
    using client = new GitClient();
    await client.git(["init", "--quiet", "."]);
    // Each rule alone, each with the one before it, and all together.
    const sets = [
      ...RULES.map((rule) => [rule]),
      ...RULES.slice(1).map((rule, place) => [RULES[place]!, rule]),
      RULES,
    ];
    for (const set of sets) {
      const text = `${set.join("\n")}\n`;
      Deno.writeTextFileSync(client.path(".gitignore"), text);
      const asked = new TextEncoder().encode(PATHS.join("\0"));
      const { stdout } = await client.run(
        ["check-ignore", "--no-index", "--stdin", "-z"],
        client.folder,
        asked,
      );
      const expected = stdout.split("\0").filter((path) => path !== "");
      const rules = new IgnoreRules(text, "", null);
      assert.deepEqual(PATHS.filter((path) => isLeftOut(rules, path)), expected, text);
    }
  },
});

Deno.test("the file nearest to a path counts", () => {
  const around = new IgnoreRules("*.txt\nb\n", "", null);
  const inner = new IgnoreRules("!keep.txt\n/only\n", "sub/", around);
  assert.ok(inner.leavesOut("sub/a.txt", false));
  assert.ok(!inner.leavesOut("sub/keep.txt", false));
  assert.ok(inner.leavesOut("sub/only", false));
  assert.ok(!inner.leavesOut("sub/x/only", false));
  assert.ok(inner.leavesOut("sub/x/b", true));
});
