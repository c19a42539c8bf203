import { join } from "node:path";
import { FolderLock, FolderLockError } from "../../engines/database/sqlite/mod.ts";
import { type Manifest, manifestSchema, type StoredFile } from "./manifest.ts";
import { BackupError } from "./names.ts";
import { type BackupTarget, explainDisk, hashing, type NewFile, writeAll } from "./target.ts";
import { renameSynced, syncFolder } from "../../kernel/files.ts";

/** The folder of the contents, each named by its SHA-256. */
export const OBJECTS = "objects";

/** The folder of the backups: one file for each, named by its time. */
export const BACKUPS = "backups";

const TEMPORARY = /^\.part-/;

const OBJECT = /^[0-9a-f]{64}$/;

export interface FolderTargetOptions {
  /** How many backups it keeps. */
  readonly keep: number;
}

/**
 * A folder with several backups, each complete. A content that several have is there once, and what
 * has not changed since the last backup is neither read nor written. Nothing in it is ever
 * overwritten, so another program can copy it elsewhere at any time.
 */
export class FolderTarget implements BackupTarget {
  readonly #folder: string;
  readonly #keep: number;
  /** The files of the last backup, by name without SQLite's endings. */
  readonly #last = new Map<string, StoredFile[]>();
  readonly #lock: FolderLock;
  /** What this backup has added, to be removed if it fails. */
  readonly #added: string[] = [];
  #part: string | null = null;

  private constructor(folder: string, lock: FolderLock, options: FolderTargetOptions) {
    this.#folder = folder;
    this.#lock = lock;
    this.#keep = options.keep;
  }

  /** @throws BackupError if the folder cannot be used */
  static async open(folder: string, options: FolderTargetOptions): Promise<FolderTarget> {
    await explaining(folder, async () => {
      for (const name of [OBJECTS, BACKUPS]) {
        await Deno.mkdir(join(folder, name), { recursive: true, mode: 0o700 });
      }
    });
    const target = new FolderTarget(folder, takeLock(folder), options);
    await explaining(folder, async () => {
      for await (const { name } of Deno.readDir(join(folder, OBJECTS))) {
        if (TEMPORARY.test(name)) await Deno.remove(join(folder, OBJECTS, name));
      }
    });
    const newest = (await backupsIn(folder)).at(-1);
    const files = newest === undefined ? [] : (await readManifest(folder, newest)).files;
    for (const file of files) {
      const name = file.name.replace(/-wal$/, "");
      target.#last.set(name, [...target.#last.get(name) ?? [], file]);
    }
    return target;
  }

  known(name: string, state: string | null): readonly StoredFile[] {
    const files = this.#last.get(name) ?? [];
    if (state === null || files.length === 0) return [];
    const isSame = files.every((file) => file.state === state && this.#holds(file));
    return isSame ? files : [];
  }

  async begin(): Promise<void> {}

  async write({ name, bytes, state, pieces }: NewFile): Promise<StoredFile> {
    return await explaining(this.#folder, async () => {
      const part = join(this.#folder, OBJECTS, `.part-${crypto.randomUUID()}`);
      this.#part = part;
      const sha256 = await this.#copy(part, pieces);
      const path = join(this.#folder, OBJECTS, sha256);
      if (!await exists(path)) this.#added.push(path);
      await Deno.rename(part, path);
      this.#part = null;
      return { name, bytes, sha256, state };
    });
  }

  async finish(manifest: Manifest): Promise<void> {
    await explaining(this.#folder, async () => {
      const name = `${manifest.created_at.replaceAll(":", "-")}.json`;
      const part = join(this.#folder, OBJECTS, `.part-${crypto.randomUUID()}`);
      this.#part = part;
      await this.#copy(part, [new TextEncoder().encode(`${JSON.stringify(manifest, null, 1)}\n`)]);
      // The names of the contents must outlive what the manifest does.
      await syncFolder(join(this.#folder, OBJECTS));
      await renameSynced(part, join(this.#folder, BACKUPS, name));
      this.#part = null;
      this.#added.length = 0;
      await this.#removeOld();
      this.#lock.close();
    });
  }

  async abort(): Promise<void> {
    for (const path of [...this.#added, this.#part]) {
      if (path !== null) await Deno.remove(path).catch(() => {});
    }
    this.#lock.close();
  }

  async #copy(path: string, pieces: Iterable<Uint8Array<ArrayBuffer>>): Promise<string> {
    using file = await Deno.open(path, { write: true, createNew: true, mode: 0o600 });
    const sha256 = await hashing(pieces, (piece) => writeAll(file, piece));
    await file.sync();
    return sha256;
  }

  #holds({ sha256, bytes }: StoredFile): boolean {
    try {
      return Deno.statSync(join(this.#folder, OBJECTS, sha256)).size === bytes;
    } catch {
      return false;
    }
  }

  /** Removes the oldest backups, and the contents that none of the others has; nothing foreign. */
  async #removeOld(): Promise<void> {
    const names = await backupsIn(this.#folder);
    const kept = names.slice(-this.#keep);
    const used = new Set<string>();
    for (const name of kept) {
      for (const { sha256 } of (await readManifest(this.#folder, name)).files) used.add(sha256);
    }
    for (const name of names.slice(0, -this.#keep)) {
      await Deno.remove(join(this.#folder, BACKUPS, name));
    }
    for await (const { name } of Deno.readDir(join(this.#folder, OBJECTS))) {
      if (OBJECT.test(name) && !used.has(name)) {
        await Deno.remove(join(this.#folder, OBJECTS, name));
      }
    }
  }
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}

async function explaining<T>(folder: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw explainDisk(error, folder);
  }
}

function takeLock(folder: string): FolderLock {
  try {
    return FolderLock.take(join(folder, "lock"));
  } catch (error) {
    if (!(error instanceof FolderLockError)) throw error;
    const reason = error.message.replace("another muster", "another backup");
    throw new BackupError(`The folder "${folder}" ${reason}`);
  }
}

/** The names of the backups in a folder, oldest first. */
export async function backupsIn(folder: string): Promise<string[]> {
  const names: string[] = [];
  for await (const { name, isFile } of Deno.readDir(join(folder, BACKUPS))) {
    if (isFile && name.endsWith(".json")) names.push(name);
  }
  return names.toSorted();
}

/** @throws BackupError if it is not there, or is no manifest of this version */
export async function readManifest(folder: string, name: string): Promise<Manifest> {
  const path = join(folder, BACKUPS, name);
  try {
    return manifestSchema.parse(JSON.parse(await Deno.readTextFile(path)));
  } catch {
    throw new BackupError(
      `"${path}" cannot be read, or describes no backup: move it away, or restore another with --at`,
    );
  }
}
