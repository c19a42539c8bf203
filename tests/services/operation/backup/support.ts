/** Data folders, backups and crafted archives for the tests of backups. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { SCHEMA_VERSION } from "../../../../services/engines/database/mod.ts";
import {
  ArchiveTarget,
  fileSink,
  makeBackup,
  restoreBackup,
} from "../../../../services/operation/backup/mod.ts";

export const NOW = Date.UTC(2026, 10, 22, 18);

/** A data folder with a database and a key. */
export function makeData(folder: string): void {
  Deno.mkdirSync(join(folder, "projects"), { recursive: true });
  for (const path of ["muster.db", "projects/demo.fossil"]) {
    using database = new DatabaseSync(join(folder, path));
    database.exec(`PRAGMA journal_mode = WAL; PRAGMA user_version = ${SCHEMA_VERSION}`);
    database.exec("CREATE TABLE facts (fact); INSERT INTO facts VALUES ('kept')");
  }
  Deno.writeTextFileSync(join(folder, "event_key"), "secret");
}

export const foldersOf = (data: string) => ({ data, projects: join(data, "projects") });

export async function backUp(data: string, archive: string): Promise<void> {
  await makeBackup({
    database: "sqlite",
    folders: foldersOf(data),
    target: new ArchiveTarget(await fileSink(archive), NOW),
    hold: () =>
      Promise.resolve({ busy: [], areSettled: true, release: () => Promise.resolve(true) }),
    version: "1.0.0",
    now: NOW,
  });
}

export function restore(source: string, data: string) {
  return restoreBackup({
    database: "sqlite",
    source,
    name: null,
    folders: foldersOf(data),
    replace: false,
    requireFree: () => {},
  });
}

/** Restores must fail with this message, and leave nothing behind. */
export async function refuses(
  source: string,
  folder: string,
  message: RegExp,
): Promise<void> {
  const target = join(folder, "target");
  await Deno.mkdir(target);
  await assert.rejects(restore(source, join(target, "data")), {
    name: "BackupError",
    message,
  });
  assert.deepEqual([...Deno.readDirSync(target)], []);
  await Deno.remove(target);
}

/** A header of a file in a tar archive. */
export function tarFile(name: string, content: Uint8Array, type = "0"): Uint8Array<ArrayBuffer> {
  const header = new Uint8Array(512);
  const put = (place: number, text: string) => header.set(new TextEncoder().encode(text), place);
  put(0, name);
  put(124, content.length.toString(8).padStart(11, "0"));
  put(156, type);
  put(257, "ustar\x0000");
  put(148, "        ");
  const sum = header.reduce((total, byte) => total + byte, 0);
  put(148, `${sum.toString(8).padStart(6, "0")}\0 `);
  const blocks = new Uint8Array(512 + Math.ceil(content.length / 512) * 512);
  blocks.set(header);
  blocks.set(content, 512);
  return blocks;
}

/** Whatever an archive may hold. */
interface Crafted {
  /** The files, each with its content. */
  readonly files: readonly (readonly [name: string, content: Uint8Array])[];
  /** The type of the last file, as tar has it. */
  readonly type?: string;
  readonly header?: unknown;
  /** More fields of the list of files. */
  readonly manifest?: Readonly<Record<string, unknown>>;
}

/** Writes an archive with any files, and a list that names them. */
export async function craft(path: string, { files, type, header, manifest }: Crafted) {
  const encode = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
  const list = files.map(([name, content]) => {
    const sha256 = createHash("sha256").update(content).digest("hex");
    return { name, bytes: content.length, sha256, state: null };
  });
  const first = header ?? { format: 1, muster: "9.0.0" };
  const created_at = new Date(NOW).toISOString();
  const fields = Object.assign(
    { created_at, schema: SCHEMA_VERSION, files: list },
    first,
    manifest,
  );
  await Deno.writeFile(
    path,
    await new Blob([
      tarFile("muster-backup.json", encode(first)),
      ...files.map(([name, content], at) =>
        tarFile(name, content, at === files.length - 1 ? type : "0")
      ),
      tarFile("manifest.json", encode(fields)),
      new Uint8Array(1024),
    ]).bytes(),
  );
}

/** The content of crafted files. */
export const HARM = new TextEncoder().encode("harm");
