import assert from "node:assert/strict";
import { join } from "node:path";
import { errorsOf, failedFiles, filterOf, ignoredTests } from "../../scripts/failed_tests.ts";
import { withFolder, writeFile } from "../support/temporary.ts";

/** Writes files of tests and modules that import them, and runs the modules with `deno test`. */
async function runModules(
  folder: string,
  files: Readonly<Record<string, string>>,
  imports: Readonly<Record<string, readonly string[]>>,
  options: readonly string[] = [],
) {
  for (const [name, text] of Object.entries(files)) await writeFile(folder, name, text);
  for (const [name, imported] of Object.entries(imports)) {
    await writeFile(folder, name, imported.map((file) => `import "./${file}";\n`).join(""));
  }
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: [
      "test",
      "--no-check",
      "--parallel",
      "--no-config",
      "--junit-path=report.xml",
      ...options,
      ...Object.keys(imports),
    ],
    cwd: folder,
    stderr: "null",
    env: { FORCE_COLOR: "1" },
  }).output();
  const root = await Deno.realPath(folder);
  const modules = new Map(
    Object.entries(imports).map(([name, imported]) =>
      [join(root, name), imported.map((file) => join(root, file))] as const
    ),
  );
  const output = new TextDecoder().decode(stdout);
  const report = await Deno.readTextFile(join(folder, "report.xml")).catch(() => "");
  const nameOf = (file: string) => file.slice(root.length + 1);
  const failed = failedFiles({ output, report, modules, root }).map(nameOf);
  const { files: ignoring, names } = ignoredTests({ report, modules, root });
  return { failed, ignored: ignoring.map(nameOf), names, output };
}

Deno.test("a file fails with a test, with a step, and with an error that its module did not catch", async () => {
  await withFolder(async (folder) => {
    const { failed, output } = await runModules(folder, {
      "passes_test.ts": 'Deno.test("a", () => {});',
      "fails_test.ts": 'Deno.test("b <&\\"", () => { throw new Error("reason of b"); });',
      "step_test.ts":
        'Deno.test("c", async (t) => { await t.step("d", () => { throw new Error("e"); }); });',
      "throws_test.ts": 'throw new Error("reason of the module");',
      "beside_test.ts": 'Deno.test("f", () => {});',
    }, {
      "one.ts": ["passes_test.ts", "fails_test.ts", "step_test.ts"],
      "two.ts": ["throws_test.ts", "beside_test.ts"],
    });
    const expected = ["beside_test.ts", "fails_test.ts", "step_test.ts", "throws_test.ts"];
    assert.deepEqual(failed, expected, output);
    const errors = errorsOf(output);
    assert.match(errors, /reason of b/);
    assert.match(errors, /reason of the module/);
    assert.doesNotMatch(errors, /passes_test/);
  });
});

Deno.test("no file fails in a run whose tests pass", async () => {
  await withFolder(async (folder) => {
    const files = { "passes_test.ts": 'Deno.test("a ... FAILED", () => {});' };
    const { failed } = await runModules(folder, files, { "one.ts": ["passes_test.ts"] });
    assert.deepEqual(failed, []);
  });
});

Deno.test("a test that a helper declares is of the files that import the helper", async () => {
  await withFolder(async (folder) => {
    await writeFile(
      folder,
      "declaring.ts",
      `export function declare(name: string, ignore: boolean): void {
        Deno.test({ name, ignore, fn: () => { throw new Error("reason"); } });
      }`,
    );
    const files = {
      "fails_test.ts": 'import { declare } from "./declaring.ts"; declare("a", false);',
      "ignored_test.ts": 'import { declare } from "./declaring.ts"; declare("b", true);',
      "passes_test.ts": 'Deno.test("c", () => {});',
    };
    const { failed, ignored } = await runModules(folder, files, {
      "one.ts": ["fails_test.ts", "passes_test.ts"],
      "two.ts": ["ignored_test.ts", "passes_test.ts"],
    });
    assert.deepEqual([failed, ignored], [["fails_test.ts"], ["fails_test.ts", "ignored_test.ts"]]);
  });
});

Deno.test("the tests that a run ignored, and no others, can be run, whatever their names", async () => {
  await withFolder(async (folder) => {
    const odd = "a <b> & \"c\" 'd' costs 1.5 $ (or more), /^[e]+$/ | \\f {2} a\u00e9\u{1f600}*?";
    const declaring = (name: string, ignore: boolean) =>
      `Deno.test(${JSON.stringify({ name, ignore }).slice(0, -1)}, fn: () => {} });\n`;
    const files = {
      "some_test.ts": declaring(odd, true) + declaring("runs", false) + declaring("b.c", true),
      "none_test.ts": declaring("bxc", false),
    };
    const imports = { "one.ts": Object.keys(files) };
    const { ignored, names } = await runModules(folder, files, imports);
    assert.deepEqual(ignored, ["some_test.ts"]);
    assert.deepEqual(names, [odd, "b.c"].sort());
    const included = Object.fromEntries(
      Object.entries(files).map(([name, text]) => [name, text.replaceAll("true", "false")]),
    );
    const { output } = await runModules(folder, included, imports, [filterOf(names)]);
    assert.match(output, /2 passed.*2 filtered out/);
  });
});
