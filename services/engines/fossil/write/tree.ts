import {
  caseCollision,
  type FileCard,
  type FileMode,
  isFileName,
  isReservedFileName,
  parseArtifact,
  pathFault,
} from "../artifact/mod.ts";
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
 * The F cards of a new check-in. A file that the parent has may keep a name that new files may not
 * have.
 *
 * @param files cards of the parent, without old names.
 * @throws {FossilError} `invalid` if a change does not fit the tree, or a file cannot be stored.
 */
export function changeTree(
  files: readonly FileCard[],
  changes: readonly FileChange[],
  put: PutFile,
  { anyNames = false }: TreeOptions = {},
): FileCard[] {
  const tree = new TextMap(
    files.map((card) => [card.name, { ...card, oldName: null as string | null }]),
  );
  const touched = new TextSet();
  for (const change of changes) {
    if (touched.has(change.path)) throw invalid(change.path, "is changed twice");
    touched.add(change.path);
  }
  for (const change of changes) {
    if (change.kind === "move") takeOut(tree, change.from);
    if (change.kind === "delete") takeOut(tree, change.path);
  }
  const before = new TextMap(files.map((card) => [card.name, card]));
  for (const change of changes) {
    if (change.kind !== "delete") tree.set(change.path, applyChange(before, tree, change, put));
  }
  checkFolders(tree, touched);
  if (!anyNames) checkNames(tree, [...touched].filter((path) => !before.has(path)));
  return [...tree.values()];
}

function invalid(path: string, reason: string): FossilError {
  return new FossilError("invalid", `File "${path}" ${reason}`);
}

/** Removes a file from the tree, before other changes replace it. */
function takeOut(tree: Map<string, FileCard>, path: string): void {
  if (!tree.delete(path)) throw invalid(path, "does not exist");
}

function applyChange(
  before: ReadonlyMap<string, FileCard>,
  tree: ReadonlyMap<string, FileCard>,
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
      const mode = change.mode ?? before.get(name)?.mode ?? "file";
      return { name, hash: putFile(name, change.content, put), mode, oldName: null };
    }
    case "move": {
      const old = before.get(change.from);
      if (old === undefined) throw invalid(change.from, "does not exist");
      if (tree.has(name)) throw invalid(name, "exists");
      const hash = change.content === undefined ? old.hash : putFile(name, change.content, put);
      return { name, hash, mode: change.mode ?? old.mode, oldName: change.from };
    }
    case "mode": {
      const old = tree.get(name);
      if (old === undefined) throw invalid(name, "does not exist");
      return { ...old, mode: change.mode };
    }
  }
}

/** Every repository would treat a file that is a valid artifact as an artifact. */
function putFile(name: string, content: Uint8Array, put: PutFile): string {
  if (parseArtifact(content) !== null) throw invalid(name, "is a valid artifact of Fossil itself");
  return put(content);
}

/** New files must not harm a checkout or an unpacked archive on any system. */
function checkNames(tree: ReadonlyMap<string, FileCard>, names: readonly string[]): void {
  const added = names.filter((name) => tree.has(name));
  for (const name of added) {
    const fault = pathFault(name);
    if (fault !== null) throw invalid(name, fault);
  }
  const collision = caseCollision(tree.keys(), added);
  if (collision === null) return;
  throw invalid(collision.path, `differs from "${collision.other}" only in case`);
}

function checkFolders(tree: ReadonlyMap<string, FileCard>, touched: Iterable<string>): void {
  if (![...touched].some((path) => tree.has(path))) return;
  const folder = findFolderFile(tree);
  if (folder !== null) throw invalid(folder, "would be a folder too");
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
