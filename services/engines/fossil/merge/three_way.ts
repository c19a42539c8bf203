/** The three-way merge of trees: one decision per file. */
import { type FileMode, foldPath } from "../artifact/mod.ts";
import { compareUtf8 } from "../codec/mod.ts";
import type { PathMap } from "./renames.ts";
import { type ConflictHunk, type HunkTexts, isText, MAX_MERGED_BYTES, mergeText } from "./text.ts";
import type { Contents, Tree, TreeFile } from "./tree.ts";
import type { Conflict, ConflictKind } from "./types.ts";
import { TextMap, TextSet } from "../text/mod.ts";

/** A file of the ancestor; `isDisputed` if several common ancestors disagree about it. */
export interface AncestorFile extends TreeFile {
  readonly isDisputed: boolean;
}

/** The input of a merge. */
export interface MergeInput {
  readonly ancestor: ReadonlyMap<string, AncestorFile>;
  readonly ours: Tree;
  readonly theirs: Tree;
  /** Paths of the ancestor's files on each side. */
  readonly toOurs: PathMap;
  readonly toTheirs: PathMap;
}

/** A file of the result. */
export interface ResultFile extends TreeFile {
  readonly ancestorPath: string | null;
  readonly oursPath: string | null;
  readonly theirsPath: string | null;
  /** The content was merged from both sides. */
  readonly isCombined: boolean;
}

/** Result of a merge. The files are a valid tree only without conflicts. */
export interface MergeOutput {
  readonly files: readonly ResultFile[];
  /** In the order of paths. */
  readonly conflicts: readonly Conflict[];
}

/** The versions of one file. */
interface Versions {
  readonly ancestor: AncestorFile | null;
  readonly ours: TreeFile | null;
  readonly theirs: TreeFile | null;
}

/** Merges trees file by file. */
export class TreeMerge {
  readonly #contents: Contents;
  readonly #files: ResultFile[] = [];
  readonly #conflicts: Conflict[] = [];

  readonly #decided: HunkTexts;

  /** @param decided texts in place of conflicts */
  constructor(contents: Contents, decided: HunkTexts = {}) {
    this.#contents = contents;
    this.#decided = decided;
  }

  run(input: MergeInput): MergeOutput {
    for (const versions of alignedVersions(input)) this.#merge(versions);
    this.#checkPaths();
    const order = (a: { path: string }, b: { path: string }) => compareUtf8(a.path, b.path);
    return { files: this.#files.toSorted(order), conflicts: this.#conflicts.toSorted(order) };
  }

  #merge(versions: Versions): void {
    const { ancestor, ours, theirs } = versions;
    if (ours === null && theirs === null) return;
    if (ancestor === null) return this.#mergeAdded(versions);
    if (ours === null || theirs === null) {
      const left = ours ?? theirs;
      if (left !== null && !ancestor.isDisputed && isSame(left, ancestor)) return;
      return this.#conflict(ours === null ? "deleted-by-us" : "deleted-by-them", versions);
    }
    const path = decide(ancestor.path, ours.path, theirs.path);
    if (path === null) return this.#conflict("both-renamed", versions);
    if (sameContent(ours, theirs)) return this.#keep(versions, { ...ours, path });
    if (ancestor.isDisputed) return this.#conflict("content", versions);
    if (sameContent(ours, ancestor)) return this.#keep(versions, { ...theirs, path });
    if (sameContent(theirs, ancestor)) return this.#keep(versions, { ...ours, path });
    this.#mergeContent(versions, ancestor, ours, theirs, path);
  }

  #mergeAdded(versions: Versions): void {
    const { ours, theirs } = versions;
    const file = ours ?? theirs;
    if (file === null) return;
    if (ours === null || theirs === null || sameContent(ours, theirs)) {
      return this.#keep(versions, file);
    }
    this.#mergeAddedTexts(versions, ours, theirs);
  }

  /** Both sides added a file, with different content. */
  #mergeAddedTexts(versions: Versions, ours: TreeFile, theirs: TreeFile): void {
    const files = [ours, theirs];
    const isOneMode = ours.mode === theirs.mode && ours.mode !== "link";
    if (!isOneMode || files.some((file) => this.#contents.sizeOf(file.hash) > MAX_MERGED_BYTES)) {
      return this.#conflict("both-added", versions);
    }
    const [mine, other] = files.map((file) => this.#contents.read(file.hash));
    const isMergeable = [mine!, other!].every((text) => text.length > 0 && isText(text));
    if (!isMergeable) return this.#conflict("both-added", versions);
    const nothing = new Uint8Array();
    const merged = mergeText(nothing, mine!, other!, { decided: this.#decided });
    if (merged.conflicts > 0) return this.#conflict("both-added", versions, merged.hunks);
    const { path, mode } = ours;
    this.#keep(versions, { path, hash: this.#contents.keep(merged.content), mode }, true);
  }

  /** Both sides changed mode or content, differently. */
  #mergeContent(
    versions: Versions,
    ancestor: TreeFile,
    ours: TreeFile,
    theirs: TreeFile,
    path: string,
  ): void {
    if ([ancestor, ours, theirs].some((file) => file.mode === "link")) {
      return this.#conflict("link", versions);
    }
    const mode = decide<FileMode>(ancestor.mode, ours.mode, theirs.mode);
    if (mode === null) return this.#conflict("mode", versions);
    const hash = decide(ancestor.hash, ours.hash, theirs.hash);
    if (hash !== null) return this.#keep(versions, { path, hash, mode });
    const files = [ancestor, ours, theirs];
    if (files.some((file) => this.#contents.sizeOf(file.hash) > MAX_MERGED_BYTES)) {
      return this.#conflict("binary", versions);
    }
    const [base, mine, other] = files.map((file) => this.#contents.read(file.hash));
    if (!isText(base!) || !isText(mine!) || !isText(other!)) {
      return this.#conflict("binary", versions);
    }
    const merged = mergeText(base!, mine!, other!, { decided: this.#decided });
    if (merged.conflicts > 0) return this.#conflict("content", versions, merged.hunks);
    const combined = { path, hash: this.#contents.keep(merged.content), mode };
    this.#keep(versions, combined, true);
  }

  #keep(versions: Versions, file: TreeFile, isCombined = false): void {
    const { path, hash, mode } = file;
    this.#files.push({ path, hash, mode, isCombined, ...pathsOf(versions) });
  }

  #conflict(kind: ConflictKind, versions: Versions, hunks?: readonly ConflictHunk[]): void {
    const { ancestor, ours, theirs } = versions;
    const path = (ours ?? theirs ?? ancestor)?.path ?? "";
    this.#conflicts.push({
      path,
      kind,
      ancestor: ancestor === null || ancestor.isDisputed ? null : plain(ancestor),
      ours: ours && plain(ours),
      theirs: theirs && plain(theirs),
      ...hunks === undefined ? {} : { hunks },
    });
  }

  /** No path may be two files, or a file and a folder. */
  #checkPaths(): void {
    const byPath = TextMap.of(this.#files, ({ path }) => path);
    for (const [path, files] of byPath) {
      if (files.length > 1) this.#conflicts.push(collision("same-path", path, files));
    }
    const folders = new TextSet();
    for (const path of byPath.keys()) {
      for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
        folders.add(path.slice(0, end));
      }
    }
    for (const [path, files] of byPath) {
      if (folders.has(path)) this.#conflicts.push(collision("file-folder", path, files));
    }
    this.#checkCase();
  }

  /** No path may differ from another only in case, unless both are on one side already. */
  #checkCase(): void {
    const alike = TextMap.of(this.#files, ({ path }) => foldPath(path));
    for (const files of alike.values()) {
      const [{ path } = { path: "" }] = files;
      if (files.every((file) => file.path === path)) continue;
      const first = files.find((file) => file.oursPath === file.path);
      const onSide = (side: "oursPath" | "theirsPath") =>
        files.every((file) => file[side] === file.path);
      if (onSide("oursPath") || onSide("theirsPath")) continue;
      this.#conflicts.push(collision("same-path", first?.path ?? path, files));
    }
  }
}

/** A path that two files claim: `ours` and `theirs` are the files of the sides. */
function collision(kind: ConflictKind, path: string, files: readonly ResultFile[]): Conflict {
  const ours = files.find((file) => file.oursPath === path) ??
    files.find((file) => file.oursPath !== null);
  const theirs = files.find((file) => file !== ours);
  return {
    path,
    kind,
    ancestor: null,
    ours: ours ? plain(ours) : null,
    theirs: theirs ? plain(theirs) : null,
  };
}

function plain({ path, hash, mode }: TreeFile): TreeFile {
  return { path, hash, mode };
}

function pathsOf({ ancestor, ours, theirs }: Versions) {
  return {
    ancestorPath: ancestor?.path ?? null,
    oursPath: ours?.path ?? null,
    theirsPath: theirs?.path ?? null,
  };
}

/** Every file once, with its versions. */
function* alignedVersions(input: MergeInput): Generator<Versions> {
  const ours = new TextMap(input.ours);
  const theirs = new TextMap(input.theirs);
  for (const [path, ancestor] of input.ancestor) {
    yield {
      ancestor,
      ours: take(ours, input.toOurs.get(path)),
      theirs: take(theirs, input.toTheirs.get(path)),
    };
  }
  for (const [path, file] of ours) {
    yield { ancestor: null, ours: file, theirs: take(theirs, path) };
  }
  for (const file of theirs.values()) yield { ancestor: null, ours: null, theirs: file };
}

function take(files: Map<string, TreeFile>, path: string | undefined): TreeFile | null {
  if (path === undefined) return null;
  const file = files.get(path);
  files.delete(path);
  return file ?? null;
}

/** Returns the side that changed; null if both changed, differently. */
function decide<T>(ancestor: T, ours: T, theirs: T): T | null {
  if (ours === theirs || theirs === ancestor) return ours;
  return ours === ancestor ? theirs : null;
}

function sameContent(left: TreeFile, right: TreeFile): boolean {
  return left.hash === right.hash && left.mode === right.mode;
}

function isSame(left: TreeFile, right: TreeFile): boolean {
  return left.path === right.path && sameContent(left, right);
}
