import {
  caseCollision,
  type FileCard,
  type FileMode,
  isFileName,
  isReservedFileName,
  parseArtifact,
  pathFault,
} from "../artifact/mod.ts";
import type { ManifestFiles } from "../crosslink/mod.ts";
import { FossilError } from "../error.ts";
import { TextMap, TextSet } from "../text/mod.ts";

/** One change of a check-in's tree. */
export type FileChange =
  /** Adds or changes a file. Without a mode, an existing file keeps its mode. */
  | { kind: "write"; path: string; content: Uint8Array; mode?: FileMode }
  | { kind: "delete"; path: string }
  /** Moves a file; `content` also changes it. */
  | { kind: "move"; from: string; path: string; content?: Uint8Array; mode?: FileMode }
  | { kind: "mode"; path: string; mode: FileMode };

/** Stores a file's content and returns its hash. */
export type PutFile = (content: Uint8Array) => string;

export interface TreeOptions {
  /** Accepts names of new files that harm checkouts on some systems. */
  readonly anyNames?: boolean;
}

/**
 * What changes make of the files of a parent. A file that the parent has may keep a name that new
 * files may not have.
 *
 * @returns a card for each file that the changes name, without a hash if the file is gone
 * @throws {FossilError} `invalid` if a change does not fit the tree, or a file cannot be stored.
 */
export function changeTree(
  before: ManifestFiles,
  changes: readonly FileChange[],
  put: PutFile,
  { anyNames = false }: TreeOptions = {},
): readonly FileCard[] {
  const touched = new TextSet();
  for (const change of changes) {
    if (touched.has(change.path)) throw invalid(change.path, "is changed twice");
    touched.add(change.path);
  }
  const tree = new ChangedFiles(before);
  for (const change of changes) {
    if (change.kind === "move") tree.remove(change.from);
    if (change.kind === "delete") tree.remove(change.path);
  }
  for (const change of changes) {
    if (change.kind !== "delete") tree.set(applyChange(before, tree, change, put));
  }
  const after = before.with(tree.cards);
  for (const path of touched) checkFolders(after, path);
  if (!anyNames) {
    const added = [...touched].filter((path) => !before.find(path) && after.find(path));
    if (added.length > 0) checkNames(after, added);
  }
  return [...tree.cards];
}

/** The files of a check-in while changes are made to them. */
class ChangedFiles {
  readonly #before: ManifestFiles;
  readonly #changed = new TextMap<FileCard>();

  constructor(before: ManifestFiles) {
    this.#before = before;
  }

  /** A card for each file that was set or removed. */
  get cards(): Iterable<FileCard> {
    return this.#changed.values();
  }

  find(name: string): FileCard | null {
    const changed = this.#changed.get(name);
    if (changed === undefined) return this.#before.find(name);
    return changed.hash === null ? null : changed;
  }

  set(card: FileCard): void {
    this.#changed.set(card.name, card);
  }

  /** Takes a file away, before other changes replace it. */
  remove(name: string): void {
    if (this.find(name) === null) throw invalid(name, "does not exist");
    this.set({ name, hash: null, mode: "file", oldName: null });
  }
}

function invalid(path: string, reason: string): FossilError {
  return new FossilError("invalid", `File "${path}" ${reason}`);
}

function applyChange(
  before: ManifestFiles,
  tree: ChangedFiles,
  change: Exclude<FileChange, { kind: "delete" }>,
  put: PutFile,
): FileCard {
  const { path: name } = change;
  if (!isFileName(name)) {
    const absolute = name.startsWith("/") ? ": paths begin at the root, without a slash" : "";
    throw invalid(name, `has a name that is not allowed${absolute}`);
  }
  if (isReservedFileName(name)) throw invalid(name, "has a name that checkouts use themselves");
  switch (change.kind) {
    case "write": {
      const mode = change.mode ?? before.find(name)?.mode ?? "file";
      return { name, hash: putFile(name, change.content, put), mode, oldName: null };
    }
    case "move": {
      const old = before.find(change.from);
      if (old === null) throw invalid(change.from, "does not exist");
      if (tree.find(name) !== null) throw invalid(name, "exists");
      const hash = change.content === undefined ? old.hash : putFile(name, change.content, put);
      return { name, hash, mode: change.mode ?? old.mode, oldName: change.from };
    }
    case "mode": {
      const old = tree.find(name);
      if (old === null) throw invalid(name, "does not exist");
      return { ...old, mode: change.mode, oldName: null };
    }
  }
}

/** Every repository would treat a file that is a valid artifact as an artifact. */
function putFile(name: string, content: Uint8Array, put: PutFile): string {
  if (parseArtifact(content) !== null) throw invalid(name, "is a valid artifact of Fossil itself");
  return put(content);
}

/** New files must not harm a checkout or an unpacked archive on any system. */
function checkNames(files: ManifestFiles, added: readonly string[]): void {
  for (const name of added) {
    const fault = pathFault(name);
    if (fault !== null) throw invalid(name, fault);
  }
  const collision = caseCollision(files.all().map(({ name }) => name), added);
  if (collision === null) return;
  throw invalid(collision.path, `differs from "${collision.other}" only in case`);
}

/** A file that was changed may not be a folder too, nor be in a file. */
function checkFolders(files: ManifestFiles, path: string): void {
  if (files.find(path) === null) return;
  if (files.hasBelow(path)) throw invalid(path, "would be a folder too");
  for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
    const folder = path.slice(0, end);
    if (files.find(folder) !== null) throw invalid(folder, "would be a folder too");
  }
}

/** A path that is a file and a folder at once, which no tree may have; null if there is none. */
export function findFolderFile(
  tree: Pick<ReadonlyMap<string, unknown>, "keys" | "has">,
): string | null {
  const folders = new TextSet();
  for (const path of tree.keys()) {
    for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
      const folder = path.slice(0, end);
      if (folders.has(folder)) break;
      folders.add(folder);
    }
  }
  for (const folder of folders) if (tree.has(folder)) return folder;
  return null;
}
