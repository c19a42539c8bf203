/** What a restore refuses, before it touches the data folder. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import {
  ArchiveTarget,
  fileSink,
  FolderTarget,
  makeBackup,
} from "../../../../services/operation/backup/mod.ts";
import { withFolder } from "../../../support/temporary.ts";
import { backUp, craft, foldersOf, HARM, makeData, NOW, refuses, restore } from "./support.ts";

Deno.test("a restored folder has every file, and only its owner may read it", async () => {
  await withFolder(async (folder) => {
    const [data, archive, copy] = ["data", "b.tar", "copy"].map((name) => join(folder, name));
    assert.ok(data !== undefined && archive !== undefined && copy !== undefined);
    makeData(data);
    await backUp(data, archive);
    const report = await restore(archive, copy);
    assert.equal(report.files, 3);
    assert.equal(Deno.readTextFileSync(join(copy, "event_key")), "secret");
    for (const path of ["muster.db", "projects/demo.fossil"]) {
      using database: DatabaseSync = new DatabaseSync(join(copy, path));
      assert.equal(database.prepare("SELECT fact FROM facts").get()?.["fact"], "kept");
    }
    assert.equal(Deno.statSync(copy).mode! & 0o777, 0o700);
    assert.equal(Deno.statSync(join(copy, "event_key")).mode! & 0o777, 0o600);
  });
});

Deno.test("a restore refuses names that lead out of the folder, and what is no file", async () => {
  await withFolder(async (folder) => {
    const archive = join(folder, "b.tar");
    for (
      const name of ["../evil", "/etc/evil", "projects/../../evil", "a\\..\\b", "C:evil", ".."]
    ) {
      await craft(archive, { files: [[name, HARM]] });
      await refuses(archive, folder, /which muster never writes/);
    }
    for (const type of ["1", "2", "3", "5", "L"]) {
      await craft(archive, { files: [["link", HARM]], type });
      await refuses(archive, folder, /which is no regular file/);
    }
  });
});

Deno.test("a restore refuses a backup from a newer muster, and from before the first release", async () => {
  await withFolder(async (folder) => {
    const [data, archive] = [join(folder, "data"), join(folder, "b.tar")];
    await craft(archive, { files: [["muster.db", HARM]], header: { format: 2, muster: "9.0.0" } });
    await refuses(archive, folder, /comes from a newer muster, 9\.0\.0/);
    for (
      const [version, message] of [
        [999, /muster 1\.0\.0 made, has version 999 and comes from a newer muster;/],
        [14, /has version 14 and comes from before the first release;.* upgrade it with an older/],
      ] as const
    ) {
      makeData(data);
      {
        using database = new DatabaseSync(join(data, "muster.db"));
        database.exec(`PRAGMA user_version = ${version}`);
      }
      await backUp(data, archive);
      await refuses(archive, folder, message);
      await Deno.remove(data, { recursive: true });
    }
  });
});

Deno.test("a restore refuses a truncated, a damaged and a foreign archive", async () => {
  await withFolder(async (folder) => {
    const [data, archive, bad] = ["data", "b.tar", "bad.tar"].map((name) => join(folder, name));
    assert.ok(data !== undefined && archive !== undefined && bad !== undefined);
    makeData(data);
    await backUp(data, archive);
    const bytes = await Deno.readFile(archive);
    for (const length of [100, 5000, bytes.length >> 1, bytes.length - 2048]) {
      await Deno.writeFile(bad, bytes.subarray(0, length));
      await refuses(bad, folder, /ends early/);
    }
    const flipped = bytes.slice();
    const place = new TextDecoder("latin1").decode(bytes).indexOf("secret");
    flipped[place] = 0;
    await Deno.writeFile(bad, flipped);
    await refuses(bad, folder, /"event_key" does not have its checksum/);
    await Deno.writeTextFile(bad, "x".repeat(4000));
    await refuses(bad, folder, /is no archive of muster/);
    await refuses(join(folder, "nothing"), folder, /There is no backup at/);
  });
});

Deno.test("a restore refuses a folder of backups that lacks a content", async () => {
  await withFolder(async (folder) => {
    const [data, backups] = [join(folder, "data"), join(folder, "backups")];
    makeData(data);
    await makeBackup({
      database: "sqlite",
      folders: foldersOf(data),
      target: await FolderTarget.open(backups, { keep: 1 }),
      hold: () =>
        Promise.resolve({ busy: [], areSettled: true, release: () => Promise.resolve(true) }),
      version: "1.0.0",
      now: NOW,
    });
    const sha256 = createHash("sha256").update("secret").digest("hex");
    const object = join(backups, "objects", sha256);
    await Deno.writeTextFile(object, "longer than it was");
    await refuses(backups, folder, /the content of "event_key" does not have its length/);
    await Deno.remove(object);
    await refuses(backups, folder, /the content of "event_key" is missing/);
    await Deno.symlink("/dev/zero", object);
    await refuses(backups, folder, /the content of "event_key" does not have its length/);
  });
});

Deno.test("a backup whose pause ended too early is begun again", async () => {
  await withFolder(async (folder) => {
    const [data, archive] = [join(folder, "data"), join(folder, "b.tar")];
    makeData(data);
    const held = [false, true];
    const begin = async (answers: boolean[]) =>
      await makeBackup({
        database: "sqlite",
        folders: foldersOf(data),
        target: new ArchiveTarget(await fileSink(archive), NOW),
        hold: () =>
          Promise.resolve({
            busy: [],
            areSettled: true,
            release: () => Promise.resolve(answers.shift() ?? false),
          }),
        version: "1.0.0",
        now: NOW,
      });
    await begin(held);
    await restore(archive, join(folder, "copy"));
    await Deno.remove(archive);
    await assert.rejects(begin([]), /The server went on before all databases were opened/);
    assert.deepEqual([...Deno.readDirSync(folder)].map(({ name }) => name).toSorted(), [
      "copy",
      "data",
    ]);
  });
});
