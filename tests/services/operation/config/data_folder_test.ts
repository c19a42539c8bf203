import assert from "node:assert/strict";
import { join } from "node:path";
import { DataFolder, DataFolderError } from "../../../../services/operation/config/mod.ts";
import { withFolder, writeFile } from "../../../support/temporary.ts";

Deno.test("DataFolder.open() makes a folder that only its owner can read", async () => {
  await withFolder(async (parent) => {
    const folder = DataFolder.open(join(parent, "a", "b"));
    folder.close();
    assert.equal(((await Deno.stat(folder.path)).mode ?? 0) & 0o777, 0o700);
  });
});

Deno.test("a data folder has one user at a time", async () => {
  await withFolder((parent) => {
    const path = join(parent, "data");
    DataFolder.check(path);
    const folder = DataFolder.open(path);
    assert.deepEqual(Array.from(Deno.readDirSync(path), ({ name }) => name), ["lock"]);
    assert.throws(() => DataFolder.check(path), /in use by another muster/);
    assert.throws(() => DataFolder.open(path), DataFolderError);
    folder.close();
    DataFolder.check(path);
  });
});

Deno.test("DataFolder.check() does not create a missing folder", async () => {
  await withFolder(async (parent) => {
    const path = join(parent, "data");
    DataFolder.check(path);
    await assert.rejects(Deno.stat(path), Deno.errors.NotFound);
  });
});

Deno.test("DataFolder.open() reports a file in place of the folder", async () => {
  await withFolder(async (parent) => {
    const path = await writeFile(parent, "data", "");
    assert.throws(() => DataFolder.open(path), DataFolderError);
  });
});
