/** The tables of a companion, which {@link ./companion.ts} explains. */

/** Where the companion of a repository is kept: `x.fossil` has `x.objects`. */
export function companionPath(repositoryPath: string): string {
  return `${repositoryPath.replace(/\.fossil$/, "")}.objects`;
}

/** Where the pack of the last clone is kept: `x.fossil` has `x.pack`. */
export function packPath(repositoryPath: string): string {
  return `${repositoryPath.replace(/\.(?:fossil|objects)$/, "")}.pack`;
}

/** Increase this whenever the tables below or their content change: older files are rebuilt. */
export const COMPANION_VERSION = "3";

/** What an object is, as `object.kind` has it, and which table has it by `object.place`. */
export const KIND = { commit: 1, tree: 2, blob: 3, tag: 4 } as const;

/**
 * - `object`: every object by its name, and its row in one of the others;
 * - `revision`: commits, parents before children, with the check-in; `parents`, `trees` and `blobs`
 *   are lists of rows: what the commit has and its first parent does not is in the last two, and maybe
 *   more;
 * - `tree`: a zlib stream of the tree, or of a delta of `base`, which is an earlier row; `origin` is the
 *   first commit that has it: a client with that commit has the tree, and one with its first parent
 *   has the base;
 * - `file`: contents by their rows in the repository, which has them;
 * - `tag`: annotated tags, and the names of what they are of;
 * - `move`: where a control artifact has put a reference last; `rid` is a check-in, or a list of other
 *   objects, 0 for a deletion;
 * - `kept`: what the pack has that is kept beside the companion: zlib streams of a mark for each row;
 * - `ref`: the references that clients see; `object` and `peeled` are names, `branch` is the branch that
 *   moves it, "" for none.
 */
export const COMPANION_SCHEMA = `
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE object(name BLOB PRIMARY KEY, kind INTEGER NOT NULL, place INTEGER NOT NULL)
  WITHOUT ROWID;
CREATE TABLE revision(
  id INTEGER PRIMARY KEY, rid INTEGER NOT NULL UNIQUE, name BLOB NOT NULL, parents BLOB NOT NULL,
  date INTEGER NOT NULL, tree INTEGER NOT NULL, size INTEGER NOT NULL, data BLOB NOT NULL,
  trees BLOB NOT NULL, blobs BLOB NOT NULL
);
CREATE TABLE tree(
  id INTEGER PRIMARY KEY, name BLOB NOT NULL, origin INTEGER NOT NULL, size INTEGER NOT NULL,
  base INTEGER NOT NULL, depth INTEGER NOT NULL, stored INTEGER NOT NULL, data BLOB NOT NULL
);
CREATE TABLE file(
  rid INTEGER PRIMARY KEY, name BLOB NOT NULL, origin INTEGER NOT NULL, size INTEGER NOT NULL
);
CREATE TABLE tag(
  id INTEGER PRIMARY KEY, name BLOB NOT NULL UNIQUE, target BLOB NOT NULL, size INTEGER NOT NULL,
  data BLOB NOT NULL
);
CREATE TABLE move(
  ref TEXT PRIMARY KEY, number INTEGER NOT NULL, date INTEGER NOT NULL, rid INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE kept(
  id INTEGER PRIMARY KEY, bytes INTEGER NOT NULL, objects INTEGER NOT NULL, checksum BLOB NOT NULL,
  commits BLOB NOT NULL, trees BLOB NOT NULL, files BLOB NOT NULL, tags BLOB NOT NULL
);
CREATE TABLE ref(
  name TEXT PRIMARY KEY, object BLOB NOT NULL, peeled BLOB, branch TEXT NOT NULL
) WITHOUT ROWID;
`;

/** A list of rows as bytes. */
export function packRows(rows: Iterable<number>): Uint8Array {
  return new Uint8Array(Uint32Array.from(rows).buffer);
}

/** Reads what {@link packRows} wrote. */
export function unpackRows(bytes: Uint8Array): Uint32Array {
  // A column's bytes may begin anywhere.
  return new Uint32Array(bytes.slice().buffer);
}
