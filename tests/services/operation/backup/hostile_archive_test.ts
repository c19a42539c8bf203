/** Archives that somebody crafted to do harm. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { withFolder } from "../../../support/temporary.ts";
import { craft, HARM, refuses } from "./support.ts";

/** The bytes of a small database without a write-ahead log. */
function databaseBytes(folder: string): Uint8Array<ArrayBuffer> {
  const path = join(folder, "small.db");
  {
    using database = new DatabaseSync(path);
    database.exec("CREATE TABLE facts (fact)");
  }
  return Deno.readFileSync(path);
}

/**
 * A rollback journal that names a super-journal. SQLite plays the journal back when it opens the
 * database, and then removes the super-journal, whatever file that is.
 *
 * @see {@link https://www.sqlite.org/fileformat.html#the_rollback_journal}
 */
function journalThatRemoves(victim: string, pages: number): Uint8Array<ArrayBuffer> {
  const magic = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
  const name = new TextEncoder().encode(victim);
  const bytes = new Uint8Array(512 + 4 + name.length + 8 + magic.length);
  const view = new DataView(bytes.buffer);
  bytes.set(magic);
  for (const [at, value] of [0, 1, pages, 512, 4096].entries()) view.setUint32(8 + at * 4, value);
  view.setUint32(512, 0x40000000 / 4096 + 1);
  bytes.set(name, 516);
  view.setUint32(516 + name.length, name.length);
  view.setUint32(520 + name.length, name.reduce((sum, byte) => sum + byte, 0));
  bytes.set(magic, 524 + name.length);
  return bytes;
}

Deno.test("SQLite removes any file that a journal beside a database names", async () => {
  await withFolder((folder) => {
    const content = databaseBytes(folder);
    const victim = join(folder, "victim");
    Deno.writeTextFileSync(victim, "precious");
    const path = join(folder, "muster.db");
    Deno.writeFileSync(path, content);
    Deno.writeFileSync(`${path}-journal`, journalThatRemoves(victim, content.length / 4096));
    using database = new DatabaseSync(path);
    database.prepare("SELECT count(*) FROM facts").get();
    assert.throws(() => Deno.statSync(victim), Deno.errors.NotFound);
  });
});

Deno.test("a restore refuses what muster or SQLite puts beside the data", async () => {
  await withFolder(async (folder) => {
    const content = databaseBytes(folder);
    const victim = join(folder, "victim");
    await Deno.writeTextFile(victim, "precious");
    const journal = journalThatRemoves(victim, content.length / 4096);
    const archive = join(folder, "b.tar");
    const names = ["muster.db-journal", "muster.db-JOURNAL", "muster.db-shm", "lock"];
    for (const name of [...names, "endpoints.json", "muster.db-journal-wal", ".restore-x/a"]) {
      await craft(archive, { files: [["muster.db", content], [name, journal]] });
      await refuses(archive, folder, /which muster never writes/);
    }
    assert.equal(await Deno.readTextFile(victim), "precious");
  });
});

Deno.test("a restore refuses an app database that is none", async () => {
  await withFolder(async (folder) => {
    const archive = join(folder, "b.tar");
    for (const content of [HARM, new Uint8Array(0)]) {
      await craft(archive, { files: [["muster.db", content]] });
      await refuses(archive, folder, /"muster\.db" in the backup is damaged: it is no database/);
    }
  });
});

Deno.test("a restore refuses lists of files that are none", async () => {
  await withFolder(async (folder) => {
    const archive = join(folder, "b.tar");
    const files = [["muster.db", databaseBytes(folder)]] as const;
    for (const header of [{}, [1], { format: 1, muster: "\u001b[31m9" }]) {
      await craft(archive, { files, header });
      await refuses(archive, folder, /is damaged: its list of files cannot be read/);
    }
    for (const manifest of [{ files: "none" }, { schema: -1 }, { created_at: "yesterday" }]) {
      await craft(archive, { files, manifest });
      await refuses(archive, folder, /is damaged: its list of files cannot be read/);
    }
  });
});

Deno.test("a restore keeps no long header in memory", async () => {
  await withFolder(async (folder) => {
    const archive = join(folder, "b.tar");
    await craft(archive, { files: [], header: { format: 1, muster: "9".repeat(100_000) } });
    await refuses(archive, folder, /is no archive of muster/);
  });
});

Deno.test("a restore refuses a name that is a file and a folder", async () => {
  await withFolder(async (folder) => {
    const archive = join(folder, "b.tar");
    await craft(archive, {
      files: [["muster.db", databaseBytes(folder)], ["a", HARM], ["a/b", HARM]],
    });
    await refuses(archive, folder, /a\/b" cannot be written/);
  });
});
