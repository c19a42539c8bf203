/** Which files of a data folder are in a backup. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { withFolder } from "../../../support/temporary.ts";
import { backUp, makeData, restore } from "./support.ts";

/** Moves a file of a data folder elsewhere, and leaves a symbolic link to it. */
function moveBehindLink(data: string, name: string, elsewhere: string): void {
  Deno.mkdirSync(elsewhere, { recursive: true });
  const target = join(elsewhere, name.replaceAll("/", "_"));
  Deno.renameSync(join(data, name), target);
  Deno.symlinkSync(target, join(data, name));
}

Deno.test("files behind symbolic links are in a backup, with what their logs hold", async () => {
  await withFolder(async (folder) => {
    const [data, archive, copy] = [
      join(folder, "data"),
      join(folder, "b.tar"),
      join(folder, "copy"),
    ];
    makeData(data);
    for (const name of ["projects/demo.fossil", "event_key"]) {
      moveBehindLink(data, name, join(folder, "elsewhere"));
    }
    using repository = new DatabaseSync(join(data, "projects", "demo.fossil"));
    repository.exec("INSERT INTO facts VALUES ('in the log')");
    await backUp(data, archive);
    await restore(archive, copy);
    assert.equal(Deno.readTextFileSync(join(copy, "event_key")), "secret");
    assert.ok(Deno.lstatSync(join(copy, "projects", "demo.fossil")).isFile);
    using restored = new DatabaseSync(join(copy, "projects", "demo.fossil"));
    const facts = restored.prepare("SELECT fact FROM facts").all().map(({ fact }) => fact);
    assert.deepEqual(facts, ["kept", "in the log"]);
  });
});

Deno.test("what muster makes again is in no backup", async () => {
  await withFolder(async (folder) => {
    const [data, archive, copy] = [
      join(folder, "data"),
      join(folder, "b.tar"),
      join(folder, "copy"),
    ];
    makeData(data);
    for (const name of ["demo.index", "demo.objects", "demo.pack", "demo.pack-next"]) {
      Deno.writeTextFileSync(join(data, "projects", name), name);
    }
    Deno.mkdirSync(join(data, "projects", ".pack-1"));
    Deno.writeTextFileSync(join(data, "projects", ".pack-1", "part.bin"), "part");
    await backUp(data, archive);
    assert.equal((await restore(archive, copy)).files, 3);
    assert.deepEqual([...Deno.readDirSync(join(copy, "projects"))].map(({ name }) => name), [
      "demo.fossil",
    ]);
  });
});

Deno.test("a backup refuses a link to a folder, and a link to nothing", async () => {
  await withFolder(async (folder) => {
    const [data, archive] = [join(folder, "data"), join(folder, "b.tar")];
    makeData(data);
    Deno.symlinkSync(folder, join(data, "around"));
    await assert.rejects(backUp(data, archive), /around" is a symbolic link to a folder/);
    Deno.removeSync(join(data, "around"));
    Deno.symlinkSync(join(folder, "nothing"), join(data, "projects", "gone.fossil"));
    await assert.rejects(backUp(data, archive), /gone\.fossil" is a symbolic link to nothing/);
  });
});

Deno.test("a folder of repositories may be a link", async () => {
  await withFolder(async (folder) => {
    const [data, archive, copy] = [
      join(folder, "data"),
      join(folder, "b.tar"),
      join(folder, "copy"),
    ];
    makeData(data);
    moveBehindLink(data, "projects", join(folder, "elsewhere"));
    await backUp(data, archive);
    assert.equal((await restore(archive, copy)).files, 3);
  });
});

Deno.test("files that a person put into the folder can be restored, whatever their names", async () => {
  await withFolder(async (folder) => {
    const [data, archive, copy] = [
      join(folder, "data"),
      join(folder, "b.tar"),
      join(folder, "copy"),
    ];
    makeData(data);
    const names = ["my notes.txt", "größe (1).md", "#100%", "-rf"];
    for (const name of names) Deno.writeTextFileSync(join(data, name), name);
    await backUp(data, archive);
    await restore(archive, copy);
    for (const name of names) assert.equal(Deno.readTextFileSync(join(copy, name)), name);
    Deno.writeTextFileSync(join(data, "a:b"), "");
    await assert.rejects(backUp(data, archive), /cannot hold a file named "a:b": rename/);
  });
});
