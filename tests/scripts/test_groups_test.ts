import assert from "node:assert/strict";
import { join } from "node:path";
import { ROOT } from "../../scripts/bundle.ts";
import {
  findTests,
  GROUP_SIZE,
  groupFiles,
  isLong,
  isQuick,
  sampleOf,
} from "../../scripts/test_groups.ts";
import { withFolder } from "../support/temporary.ts";

const TESTS = join(ROOT, "tests");

Deno.test("each file of tests is in one group of a folder, which is not too large", () => {
  const files = findTests(TESTS);
  assert.ok(files.includes(join(TESTS, "scripts", "test_groups_test.ts")));
  const groups = [...groupFiles(TESTS, files, GROUP_SIZE.all)];
  assert.deepEqual(groups.flatMap(([, group]) => group).sort(), [...files].sort());
  for (const [name, group] of groups) {
    assert.ok(group.length > 0 && group.length <= GROUP_SIZE.all, name);
    const parent = join(TESTS, name.replace(/-\d+$/, ""));
    assert.ok(group.every((file) => file.startsWith(`${parent}/`)), name);
  }
});

Deno.test("a file that starts programs is alone and comes first, then the groups by their size", async () => {
  await withFolder((folder) => {
    const sizes = { "cli/a_test.ts": 3, "end_to_end/b_test.ts": 1, "end_to_end/c_test.ts": 9 };
    const more = { "routes/d_test.ts": 5, "routes/e_test.ts": 5, "web/f_test.ts": 4 };
    const files = Object.entries({ ...sizes, ...more }).map(([name, size]) => {
      const path = join(folder, name);
      Deno.mkdirSync(join(path, ".."), { recursive: true });
      Deno.writeTextFileSync(path, "x".repeat(size));
      return path;
    });
    const groups = [...groupFiles(folder, files, 2).values()];
    const names = groups.map((group) => group.map((file) => file.slice(-"a_test.ts".length)[0]));
    assert.deepEqual(names, [["c"], ["b"], ["d", "e"], ["f"], ["a"]]);
  });
});

Deno.test("a quick run starts the program in tests/smoke alone", () => {
  const files = ["cli/a_test.ts", "smoke/b_test.ts", "end_to_end/c_test.ts", "long/d_test.ts"];
  const paths = files.map((file) => join(TESTS, file));
  assert.deepEqual(paths.map((path) => isQuick(TESTS, path)), [true, true, false, false]);
  assert.deepEqual(paths.map((path) => isLong(TESTS, path)), [false, false, false, true]);
});

Deno.test("consecutive numbers choose each of the long files once", () => {
  const files = findTests(join(TESTS, "long"));
  const samples = [7, 8, 9].map((number) => sampleOf(files, { number, parts: 3 }));
  assert.deepEqual(samples.flat().sort(), files);
  for (const sample of samples) assert.ok(Math.abs(sample.length - files.length / 3) < 1);
});

Deno.test("files of tests are those that deno test takes", async () => {
  await withFolder((folder) => {
    const tests = ["one_test.ts", "two_test.tsx", "three.test.ts", "test.ts"];
    for (const name of [...tests, "latest.ts", "four.ts"]) {
      Deno.writeTextFileSync(join(folder, name), "");
    }
    assert.deepEqual(findTests(folder).map((path) => path.slice(folder.length + 1)), tests.sort());
  });
});
