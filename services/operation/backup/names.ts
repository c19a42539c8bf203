/** A backup or a restore cannot be made; the message says why in one sentence. */
export class BackupError extends Error {
  override readonly name = "BackupError";
}

/** Longest name of a file in a backup, in UTF-16 units. */
const MAX_NAME = 255;

/** A folder or a file: no separator, no drive, nothing that leads out of the folder. */
const SEGMENT = /^(?!\.{1,2}$)[^\p{C}/\\:]+$/u;

/**
 * What is no part of the data: locks and addresses of the running program, SQLite's files beside a
 * database, copies of the database from before an upgrade, search indexes, objects and packs for Git, and
 * mirrors, which muster makes again, and unfinished work.
 */
const EXCLUDED: readonly RegExp[] = [
  /^(?:lock|endpoints\.json)$/,
  /-(?:wal|shm|journal)$/i,
  /\.(?:new|part|index|objects|pack|pack-next|tmp)$/,
  /\.db\.v\d+$/,
  /^\.(?:upload|export|archive|download|pack|restore|mirrors)(?:-|$)/,
  /\.import(?:-draft|\.objects)?$/,
  /\.muster-draft-[0-9a-f]{16}$/,
];

/** Whether a file or folder with this name, without its path, is no part of the data. */
export function isExcluded(name: string): boolean {
  return EXCLUDED.some((pattern) => pattern.test(name));
}

/** Whether a file of the data folder can have this name in a backup. */
export function isStorable(name: string): boolean {
  return name.length <= MAX_NAME && name.split("/").every((part) => SEGMENT.test(part));
}

/**
 * Checks that a name in a backup stays in the folder that it is restored to, and that it is one
 * which a backup may hold. SQLite plays back a journal that it finds beside a database, and removes
 * other files that the journal names.
 *
 * @throws BackupError
 */
export function requireSafeName(name: string): void {
  const isOurs = name.split("/").every((part) => !isExcluded(part.replace(/-wal$/, "")));
  if (isStorable(name) && isOurs) return;
  const shown = JSON.stringify(name.slice(0, MAX_NAME));
  throw new BackupError(`The backup holds a file named ${shown}, which muster never writes`);
}
