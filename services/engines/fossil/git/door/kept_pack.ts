/**
 * The pack of the last clone, kept beside the repository: most clones get it as it is. When there is more,
 * the new objects are put behind it.
 */
import { Buffer } from "node:buffer";
import { deflateSync, inflateSync } from "node:zlib";
import { hexOf, PACK_HEADER_BYTES } from "../../../git/mod.ts";
import type { GitCompanion } from "./companion.ts";
import type { PackPlan } from "./plan.ts";
import { marked, namesIn } from "./rows.ts";
import { packRows, unpackRows } from "./schema.ts";

/** Bytes of the checksum at a pack's end. */
const CHECKSUM_BYTES = 20;
/** Bytes that are copied at once. */
const COPY_BYTES = 1024 * 1024;

/** A pack that was written. */
export interface PackReport {
  readonly objects: number;
  readonly bytes: number;
}

/** What a pack has: marks by row, and rows of tags. */
export interface PackContents {
  readonly commits: Uint8Array;
  readonly trees: Uint8Array;
  readonly files: Uint8Array;
  readonly tags: readonly number[];
}

/** The file of a pack that was kept. */
export interface KeptFile {
  /** The pack's checksum, in hexadecimal digits: another pack may take its place at any time. */
  readonly checksum: string;
  readonly bytes: number;
}

/** A pack that was kept. */
export interface KeptPack extends PackContents, PackReport {
  readonly path: string;
  readonly file: KeptFile;
}

/** The pack that is kept; null if there is none. */
export function loadKeptPack({ db, packPath: path }: GitCompanion): KeptPack | null {
  const row = db.row<Record<keyof PackContents | "checksum", Uint8Array> & PackReport>(
    "SELECT * FROM kept",
  );
  if (row === undefined || !hasChecksum(path, row)) return null;
  return {
    path,
    file: { checksum: hexOf(row.checksum), bytes: row.bytes },
    objects: row.objects,
    bytes: row.bytes,
    commits: inflateSync(row.commits),
    trees: inflateSync(row.trees),
    files: inflateSync(row.files),
    tags: [...unpackRows(row.tags)],
  };
}

/** Whether a file is the pack that was kept: another one may have taken its place, or none. */
function hasChecksum(
  path: string,
  { bytes, checksum }: { readonly bytes: number; readonly checksum: Uint8Array },
): boolean {
  try {
    using file = Deno.openSync(path);
    const found = readAt(file, bytes - CHECKSUM_BYTES, CHECKSUM_BYTES);
    return file.statSync().size === bytes && found.every((byte, at) => byte === checksum[at]);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

function readAt(file: Deno.FsFile, offset: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  file.seekSync(offset, Deno.SeekMode.Start);
  for (let at = 0; at < length;) {
    const count = file.readSync(bytes.subarray(at));
    if (count === null) return bytes.subarray(0, at);
    at += count;
  }
  return bytes;
}

/** Keeps a pack that was written to a file, in the place of an earlier one. */
export function keepPack(
  { db, packPath }: GitCompanion,
  target: string,
  pack: PackContents & PackReport,
): void {
  using file = Deno.openSync(target);
  const checksum = readAt(file, pack.bytes - CHECKSUM_BYTES, CHECKSUM_BYTES);
  const next = `${packPath}-next`;
  if (hasFile(next)) Deno.removeSync(next);
  Deno.linkSync(target, next);
  Deno.renameSync(next, packPath);
  db.run(
    "REPLACE INTO kept VALUES(1,?,?,?,?,?,?,?)",
    pack.bytes,
    pack.objects,
    checksum,
    deflateSync(pack.commits),
    deflateSync(pack.trees),
    deflateSync(pack.files),
    packRows(pack.tags),
  );
}

/**
 * Keeps a pack that was fetched, with which an empty repository was filled, if it has just what the
 * companion has.
 *
 * @param source the file of the pack
 * @param names of all objects in it, in their order
 */
export function keepFetched(
  companion: GitCompanion,
  source: string,
  names: Iterable<Uint8Array>,
): void {
  const { db, graph } = companion;
  const { size: bytes, objects } = headOf(source);
  let count = 0;
  const known = namesIn(db)[Symbol.iterator]();
  for (const name of names) {
    const { value, done } = known.next();
    if (done === true || Buffer.compare(value, name) !== 0) return;
    count++;
  }
  if (count !== objects || known.next().done !== true) return;
  const rows = (table: string) => {
    const marks = new Uint8Array(
      (db.value<number | null>(`SELECT max(rowid) FROM ${table}`) ?? 0) + 1,
    );
    for (const { id } of db.rows<{ id: number }>(`SELECT rowid AS id FROM ${table}`)) marks[id] = 1;
    return marks;
  };
  keepPack(companion, source, {
    bytes,
    objects,
    commits: graph.marks().fill(1, 1),
    trees: rows("tree"),
    files: rows("file"),
    tags: [...marked(rows("tag"))],
  });
}

/** The length of a pack in a file, and how many objects it says that it has. */
function headOf(path: string): { readonly size: number; readonly objects: number } {
  using file = Deno.openSync(path);
  const head = readAt(file, 0, PACK_HEADER_BYTES);
  return { size: file.statSync().size, objects: new DataView(head.buffer).getUint32(8) };
}

/** Removes the pack that is kept. */
export function dropPack({ db, packPath }: GitCompanion): void {
  db.run("DELETE FROM kept");
  if (hasFile(packPath)) Deno.removeSync(packPath);
}

function hasFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** The entries of a kept pack, without its head and checksum. */
export function* entriesOf({ path, bytes }: KeptPack): Generator<Uint8Array> {
  using file = Deno.openSync(path);
  const end = bytes - CHECKSUM_BYTES;
  for (let at = PACK_HEADER_BYTES; at < end; at += COPY_BYTES) {
    yield readAt(file, at, Math.min(COPY_BYTES, end - at));
  }
}

/** What a plan has and a pack does not; null if the pack has more than the plan. */
export function planBeyond(plan: PackPlan, kept: PackContents): PackPlan | null {
  const { commits, tags, trees, files } = plan;
  const isWithin = (id: number) => kept.commits[id] === 1;
  const common = commits.filter(isWithin).length;
  const known = new Set(tags);
  if (common < countMarks(kept.commits) || kept.tags.some((tag) => !known.has(tag))) return null;
  const keptTags = new Set(kept.tags);
  const [moreTrees, treeCount] = without(trees, kept.trees);
  const [moreFiles, fileCount] = without(files, kept.files);
  return {
    had: plan.had,
    commits: commits.filter((id) => !isWithin(id)),
    tags: tags.filter((tag) => !keptTags.has(tag)),
    trees: moreTrees,
    treeCount,
    files: moreFiles,
    fileCount,
  };
}

/** How many marks there are. */
export function countMarks(marks: Uint8Array): number {
  let count = 0;
  for (let row = 0; row < marks.length; row++) count += marks[row]!;
  return count;
}

/** Marks that others lack, and how many they are. */
function without(marks: Uint8Array, others: Uint8Array): [Uint8Array, number] {
  const left = marks.map((mark, place) => mark === 1 && others[place] !== 1 ? 1 : 0);
  return [left, countMarks(left)];
}

/** What a plan has. */
export function contentsOf({ commits, trees, files, tags }: PackPlan, size: number): PackContents {
  const marks = new Uint8Array(size);
  for (const id of commits) marks[id] = 1;
  return { commits: marks, trees, files, tags };
}
