import assert from "node:assert/strict";
import { join } from "node:path";
import { coveringFiles, readNotes } from "../../scripts/test_statements.ts";
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
