import assert from "node:assert/strict";
import { join } from "node:path";
import { ROOT } from "../../scripts/bundle.ts";
import { coveringFiles, readNotes } from "../../scripts/test_statements.ts";
import { THOROUGH } from "../support/level.ts";
import { withFolder } from "../support/temporary.ts";

Deno.test("few files have every statement run that any run noted", async () => {
  await withFolder((folder) => {
    const notes = [
      [["a_test.ts", ["one"]], ["b_test.ts", ["one", "two"]], ["c_test.ts", []]],
      [["a_test.ts", ["three"]], ["d_test.ts", ["one", "two", "three"]], ["e_test.ts", ["four"]]],
    ];
    for (const [index, noted] of notes.entries()) {
      Deno.writeTextFileSync(join(folder, `${index}.json`), JSON.stringify(noted));
    }
    const noted = readNotes(folder);
    assert.deepEqual(noted.get("a_test.ts"), new Set(["one", "three"]));
    assert.deepEqual(coveringFiles(noted), ["d_test.ts", "e_test.ts"]);
  });
});

/** A file of tests that opens an app database in a fixture. */
const FILE = `
import { withServices } from ${JSON.stringify(new URL("../support/services.ts", import.meta.url))};
Deno.test("a row is read", () =>
  withServices(async ({ database }) => {
    await database.tables.selectFrom("agents").select("type").where("type", "in", ["a", "b"]).execute();
  }));
`;

Deno.test("a run notes what each file has an app database run", THOROUGH, async () => {
  await withFolder(async (folder) => {
    const file = join(folder, "some_test.ts");
    const notes = join(folder, "notes");
    Deno.mkdirSync(notes);
    Deno.writeTextFileSync(file, FILE);
    const { code, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [
        "test",
        "--no-check",
        `--config=${join(ROOT, "deno.json")}`,
        "--permission-set=test",
        `--preload=${join(ROOT, "tests", "support", "note_statements.ts")}`,
        file,
      ],
      env: { MUSTER_TEST_STATEMENTS: notes },
    }).output();
    assert.equal(code, 0, new TextDecoder().decode(stderr));
    const own = readNotes(notes).get(file) ?? new Set();
    assert.ok(own.has('select "type" from "agents" where "type" in (?)'), [...own].join("\n"));
  });
});
