import { headerOf } from "./archive_target.ts";
import type { Folders } from "./contents.ts";
import type { Manifest, StoredFile } from "./manifest.ts";
import { BackupError } from "./names.ts";
import { Snapshots } from "./snapshots.ts";
import type { BackupTarget } from "./target.ts";

/** How often a pause may end too early. */
const ATTEMPTS = 3;

/** Changes that wait while a backup takes its snapshots. */
export interface HeldChanges {
  /** The slugs of projects whose work could not be held up: an import, for example. */
  readonly busy: readonly string[];
  /** Whether a server has moved what its journals held into the databases. */
  readonly areSettled: boolean;
  /** Lets them go on; false if that happened earlier, because the pause was too long. */
  release(): Promise<boolean>;
}

export interface BackupOptions {
  readonly folders: Folders;
  readonly target: BackupTarget;
  /** Where the app database is. One in PostgreSQL is not part of the backup. */
  readonly database: Manifest["database"];
  /** Holds up the changes of all projects, so that database and repositories agree. */
  readonly hold: () => Promise<HeldChanges>;
  /** The program's version. */
  readonly version: string;
  /** Unix milliseconds. */
  readonly now: number;
  /** Called with the bytes written and the bytes in all. */
  readonly onProgress?: (done: number, total: number) => void;
}

/** What a backup did. */
export interface BackupReport {
  readonly files: number;
  /** Of all files. */
  readonly bytes: number;
  /** Of the files that the target held already. */
  readonly unchanged: number;
  /** How long the changes of projects waited, in milliseconds. */
  readonly paused: number;
  /** The slugs of projects that were being written. */
  readonly busy: readonly string[];
}

/**
 * Makes a backup of a data folder, whether or not a server uses it. Everything that was acknowledged
 * before the call is in it, and all of it is of one moment.
 *
 * @throws BackupError; then the target has no new backup
 */
export async function makeBackup(options: BackupOptions): Promise<BackupReport> {
  const { folders, target, database } = options;
  using snapshots = new Snapshots(folders, target, database);
  try {
    const { paused, busy } = await takeSnapshots(snapshots, options);
    const { schema } = snapshots;
    const header = headerOf(options.version);
    await target.begin(header);
    const { files, unchanged } = await writeFiles(snapshots, options);
    const created_at = new Date(options.now).toISOString();
    const manifest: Manifest = { ...header, created_at, database, schema, files };
    await target.finish(manifest);
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
    return { files: files.length, bytes, unchanged, paused, busy };
  } catch (error) {
    await target.abort();
    throw error;
  }
}

async function takeSnapshots(
  snapshots: Snapshots,
  { hold }: BackupOptions,
): Promise<Pick<BackupReport, "paused" | "busy">> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    snapshots.prepare();
    const { busy, areSettled, release } = await hold();
    const began = performance.now();
    let isOfOneMoment = false;
    try {
      snapshots.take(areSettled);
    } finally {
      isOfOneMoment = await release();
    }
    if (isOfOneMoment) return { paused: performance.now() - began, busy };
    snapshots[Symbol.dispose]();
  }
  throw new BackupError(
    "The server went on before all databases were opened: this machine is too busy. Try again",
  );
}

async function writeFiles(
  snapshots: Snapshots,
  { target, onProgress = () => {} }: BackupOptions,
): Promise<{ files: StoredFile[]; unchanged: number }> {
  const files: StoredFile[] = [];
  const total = snapshots.taken.reduce((sum, { snapshot }) => {
    return sum + (snapshot?.parts ?? []).reduce((bytes, part) => bytes + part.bytes, 0);
  }, 0);
  let [done, unchanged] = [0, 0];
  const counting = function* (pieces: Iterable<Uint8Array<ArrayBuffer>>) {
    for (const piece of pieces) {
      yield piece;
      done += piece.length;
      onProgress(Math.min(done, total), total);
    }
  };
  for (const taken of snapshots.taken) {
    files.push(...taken.known);
    unchanged += taken.known.reduce((sum, { bytes }) => sum + bytes, 0);
    if (taken.known.length > 0) continue;
    for (const { name, bytes, state, pieces } of snapshots.filesOf(taken)) {
      files.push(await target.write({ name, bytes, state, pieces: counting(pieces) }));
    }
  }
  return { files, unchanged };
}
