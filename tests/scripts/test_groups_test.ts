import assert from "node:assert/strict";
import { join } from "node:path";
import { ROOT } from "../../scripts/bundle.ts";
import {
  END_TO_END_SIZE,
  findTests,
  GROUP_SIZE,
  groupFiles,
  LONGEST,
  orderGroups,
} from "../../scripts/test_groups.ts";

Deno.test("each file of tests is in one group of a folder, which is not too large", () => {
  const folder = join(ROOT, "tests");
  const files = findTests(folder);
  assert.ok(files.includes(join(folder, "scripts", "test_groups_test.ts")));
  const groups = [...groupFiles(folder, files)];
  assert.deepEqual(groups.flatMap(([, group]) => group).sort(), [...files].sort());
  for (const [name, group] of groups) {
    if (name.startsWith("long-")) continue;
    const most = name.startsWith("end_to_end") ? END_TO_END_SIZE : GROUP_SIZE;
    assert.ok(group.length > 0 && group.length <= most, name);
    const parent = join(folder, name.replace(/-\d+$/, ""));
    assert.ok(group.every((file) => file.startsWith(`${parent}/`)), name);
  }
});

Deno.test("each of the longest files of tests is alone in its group, and starts first", () => {
  const folder = join(ROOT, "tests");
  const groups = groupFiles(folder, findTests(folder));
  const first = orderGroups(groups).slice(0, LONGEST.length);
  const long = LONGEST.map((name) => join(folder, name));
  assert.deepEqual(first.map((name) => groups.get(name)), long.map((file) => [file]));
});

Deno.test("tests that wait and tests that compute start in turns, the largest of these first", async () => {
  const folder = await Deno.makeTempDir({ prefix: "muster-test-" });
  const sizes = { "cli-1": 3, "end_to_end-1": 1, "end_to_end-2": 9, "routes-1": 5, "web-1": 4 };
  const groups = Object.entries(sizes).map(([name, size]) => {
    const path = join(folder, name);
    Deno.writeTextFileSync(path, "x".repeat(size));
    return [name, [path]] as const;
  });
  const ordered = orderGroups(new Map(groups));
  await Deno.remove(folder, { recursive: true });
  assert.deepEqual(ordered, ["end_to_end-1", "routes-1", "end_to_end-2", "web-1", "cli-1"]);
});

Deno.test("files of tests are those that deno test takes", async () => {
  const folder = await Deno.makeTempDir({ prefix: "muster-test-" });
  const names = ["one_test.ts", "two_test.tsx", "three.test.ts", "test.ts", "latest.ts", "four.ts"];
  for (const name of names) Deno.writeTextFileSync(join(folder, name), "");
  const found = findTests(folder).map((path) => path.slice(folder.length + 1));
  await Deno.remove(folder, { recursive: true });
  assert.deepEqual(found, ["one_test.ts", "test.ts", "three.test.ts", "two_test.tsx"]);
});
