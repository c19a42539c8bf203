/**
 * A migrated app database in SQLite, to copy: a third of what it takes to open the services is to
 * make the tables.
 */
import { DatabaseSync } from "node:sqlite";
import { openSqlite } from "../../services/database/mod.ts";
import { withFolder } from "./temporary.ts";

/** The bytes of the file, once it is made. */
let template: Promise<Uint8Array> | null = null;

/** Puts an empty app database at a path, as its own instance, unless a file is there. */
export async function placeDatabase(path: string): Promise<void> {
  template ??= makeTemplate();
  try {
    await Deno.writeFile(path, await template, { createNew: true, mode: 0o600 });
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) return;
    throw error;
  }
  using database = new DatabaseSync(path);
  database.exec("UPDATE instance SET id = lower(hex(randomblob(10)))");
}

async function makeTemplate(): Promise<Uint8Array> {
  let bytes = new Uint8Array();
  await withFolder(async (folder) => {
    const path = `${folder}/muster.db`;
    await openSqlite(path).close();
    bytes = await Deno.readFile(path);
  });
  return bytes;
}
