/**
 * A migrated app database in SQLite, to copy: a third of what it takes to open the services is to
 * make the tables.
 */
import { Buffer } from "node:buffer";
import { randomBytes } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import { openSqlite } from "../../services/engines/database/mod.ts";

interface Template {
  /** The bytes of the file. */
  readonly bytes: Buffer;
  /** Where they hold the id of the instance, in the table and in its index. */
  readonly places: readonly number[];
  /** The length of the id, which is hexadecimal digits. */
  readonly digits: number;
}

/** The template, once it is made. */
let template: Promise<Template> | null = null;

/** Puts an empty app database at a path, as its own instance, unless a file is there. */
export async function placeDatabase(path: string): Promise<void> {
  template ??= makeTemplate();
  try {
    await Deno.writeFile(path, copyOf(await template), { createNew: true, mode: 0o600 });
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
  }
}

/** The same database with a new id. */
function copyOf({ bytes, places, digits }: Template): Buffer<ArrayBuffer> {
  const copy = Buffer.from(bytes);
  const id = randomBytes(digits / 2).toString("hex");
  for (const place of places) copy.write(id, place);
  return copy;
}

async function makeTemplate(): Promise<Template> {
  const folder = await Deno.makeTempDir({ prefix: "muster-test-" });
  try {
    const path = `${folder}/muster.db`;
    await openSqlite(path).close();
    const bytes = Buffer.from(await Deno.readFile(path));
    using database = new DatabaseSync(path);
    const id = String(database.prepare("SELECT id FROM instance").get()?.["id"]);
    return { bytes, places: placesOf(id, bytes), digits: id.length };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** @throws {Error} The bytes do not hold the text. */
function placesOf(text: string, bytes: Buffer): readonly number[] {
  const places: number[] = [];
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) places.push(at);
  if (places.length === 0) throw new Error(`The file does not hold ${text}`);
  return places;
}
