/** The files of check-ins. */
import { firstIndex } from "../../../kernel/first_index.ts";
import { type FileCard, findFileCard, type Manifest } from "../artifact/mod.ts";
import { compareUtf8 } from "../codec/mod.ts";
import { filesOf } from "../crosslink/mod.ts";
import { FossilError } from "../error.ts";
import type { Reader } from "./reader.ts";

/** The manifest of a row. */
export function manifestOf(reader: Reader, rid: number): Manifest {
  const artifact = reader.repository.artifact(rid);
  if (artifact?.kind === "manifest") return artifact;
  throw new FossilError("missing", `Check-in ${rid} is not here`);
}

/** Approximate memory of a file of a cached tree, and of one that trees share, in bytes. */
const [FILE_BYTES, SHARED_BYTES] = [150, 16];

/** Every file of a check-in in byte order of the names. Needs `read`. */
export function treeOf(reader: Reader, rid: number): readonly FileCard[] {
  return reader.lasting(`tree ${rid}`, () => {
    const manifest = manifestOf(reader, rid);
    const isFull = manifest.baseline === null;
    const value = isFull ? manifest.files : filesOf(reader.repository, manifest);
    return { value, bytes: 200 + value.length * (isFull ? FILE_BYTES : SHARED_BYTES) };
  });
}

/** Index of the first file whose name is not before `name`. */
function lowerBound(files: readonly FileCard[], name: string): number {
  return firstIndex(files.length, (index) => compareUtf8(files[index]!.name, name) >= 0);
}

/** Files below a folder (all for ""), in order. */
export function filesBelow(files: readonly FileCard[], folder: string): readonly FileCard[] {
  if (folder === "") return files;
  const start = lowerBound(files, `${folder}/`);
  let end = start;
  while (files[end]?.name.startsWith(`${folder}/`) === true) end++;
  return files.slice(start, end);
}

/** The file of a path, or null. */
export function findFile(files: readonly FileCard[], path: string): FileCard | null {
  const card = files[lowerBound(files, path)];
  return card?.name === path ? card : null;
}

/**
 * As `findFile`.
 *
 * @throws {FossilError} `missing` if the check-in has none.
 */
function fileAt(files: readonly FileCard[], path: string): FileCard {
  const card = findFile(files, path);
  if (card === null) throw new FossilError("missing", `There is no file "${path}"`);
  return card;
}

/**
 * One file of a check-in, faster than `treeOf`. Needs `read`.
 *
 * @throws {FossilError} `missing` if the check-in has none.
 */
export function fileOf(reader: Reader, rid: number, path: string): FileCard {
  return findFileQuickly(reader, rid, path) ?? fileAt(treeOf(reader, rid), path);
}

/** As `fileOf`; null if the check-in does not have the file. */
export function findFileOf(reader: Reader, rid: number, path: string): FileCard | null {
  return findFileQuickly(reader, rid, path) ?? findFile(treeOf(reader, rid), path);
}

function findFileQuickly(reader: Reader, rid: number, path: string): FileCard | null {
  const { store } = reader.repository;
  const content = store.get(rid);
  if (content === null) return null;
  const card = findFileCard(content, path);
  if (card !== null) return card;
  const { baseline, files } = manifestOf(reader, rid);
  if (baseline === null) return null;
  const own = findFile(files, path);
  if (own !== null) return own.hash === null ? null : own;
  const amended = store.get(store.ridOf(baseline));
  return amended && findFileCard(amended, path);
}

/** A path without slashes at its ends. */
export function normalizePath(path: string): string {
  return path.replace(/^\/+|(?<!\/)\/+$/g, "");
}
