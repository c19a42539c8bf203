/** What a backup leaves behind if it fails. */
import assert from "node:assert/strict";
import { join } from "node:path";
import {
  ArchiveTarget,
  type BackupTarget,
  FolderTarget,
  gzipSink,
  makeBackup,
} from "../../../../services/operation/backup/mod.ts";
import { withFolder } from "../../../support/temporary.ts";
import { foldersOf, makeData, NOW } from "./support.ts";

function backUpTo(data: string, target: BackupTarget, now = NOW) {
  return makeBackup({
    database: "sqlite",
    folders: foldersOf(data),
    target,
    hold: () =>
      Promise.resolve({ busy: [], areSettled: true, release: () => Promise.resolve(true) }),
    version: "1.0.0",
    now,
  });
}

Deno.test("a compressed archive that cannot be written says why", async () => {
  await withFolder(async (folder) => {
    makeData(join(folder, "data"));
    // What gzip holds back fails only at the end.
    for (const room of [0, 100]) {
      let [left, isAborted] = [room, false];
      const sink = gzipSink({
        write: (bytes) => {
          left -= bytes.length;
          return left < 0 ? Promise.reject(new Error("no room")) : Promise.resolve();
        },
        close: () => Promise.resolve(),
        abort: () => {
          isAborted = true;
          return Promise.resolve();
        },
      });
      const target = new ArchiveTarget(sink, NOW);
      await assert.rejects(backUpTo(join(folder, "data"), target), { message: "no room" });
      assert.ok(isAborted);
    }
  });
});

Deno.test("a backup that fails leaves nothing in the folder of backups", async () => {
  await withFolder(async (folder) => {
    const [data, backups] = [join(folder, "data"), join(folder, "backups")];
    makeData(data);
    const open = () => FolderTarget.open(backups, { keep: 2 });
    const objects = () =>
      [...Deno.readDirSync(join(backups, "objects"))].map(({ name }) => name).toSorted();
    await backUpTo(data, await open());
    const before = objects();
    await Deno.writeTextFile(join(data, "event_key"), "another");
    const failing = await open();
    failing.finish = () => Promise.reject(new Error("no room"));
    await assert.rejects(backUpTo(data, failing, NOW + 1), { message: "no room" });
    assert.deepEqual(objects(), before);
    await backUpTo(data, await open(), NOW + 2);
    assert.ok(objects().length > before.length);
  });
});

Deno.test("a backup removes nothing foreign from the folder of backups", async () => {
  await withFolder(async (folder) => {
    const [data, backups] = [join(folder, "data"), join(folder, "backups")];
    makeData(data);
    const open = () => FolderTarget.open(backups, { keep: 1 });
    await backUpTo(data, await open());
    await Deno.mkdir(join(backups, "objects", "pack"));
    await Deno.writeTextFile(join(backups, "objects", "pack", "kept"), "");
    await Deno.writeTextFile(join(backups, "objects", "notes"), "");
    await backUpTo(data, await open(), NOW + 1);
    const names = [...Deno.readDirSync(join(backups, "objects"))].map(({ name }) => name);
    assert.deepEqual(names.filter((name) => name.length < 64).toSorted(), ["notes", "pack"]);
    assert.equal([...Deno.readDirSync(join(backups, "backups"))].length, 1);
  });
});

Deno.test("a folder of backups with a damaged list names it", async () => {
  await withFolder(async (folder) => {
    const [data, backups] = [join(folder, "data"), join(folder, "backups")];
    makeData(data);
    const open = () => FolderTarget.open(backups, { keep: 1 });
    await backUpTo(data, await open());
    await Deno.writeTextFile(join(backups, "backups", "2099.json"), "{");
    await assert.rejects(open(), /2099\.json" cannot be read, .* move it away/);
  });
});
