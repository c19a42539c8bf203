/** The tree of a commit: its parent's tree with the changes of the stream. */
import { isFileName, isGitFolder, isReservedFileName, MAX_TREE_FILES } from "../artifact/mod.ts";
import type { FileCard, FileMode } from "../artifact/mod.ts";
import { compareUtf8 } from "../codec/mod.ts";
import { type GitChange, readable } from "./stream/mod.ts";
import type { OverlayEntry } from "./overlay.ts";
import type { NoticeLog } from "./notices.ts";

/** One file; `origin` is its path in the parent if the stream says that it was renamed. */
export interface TreeFile {
  /** The artifact; of a submodule, the commit; of an empty folder, its tree. */
  readonly hash: string;
  readonly mode: FileMode;
  readonly origin: string | null;
  /** The mode in Git of what Fossil cannot hold as it is; null for any other file. */
  readonly beyond: number | null;
  /** Zeros before that mode; absent for none. */
  readonly zeros?: number;
}

/** Files by path. */
export type GitTree = ReadonlyMap<string, TreeFile>;

/** The hash of a content in the stream; null if it was skipped. */
export type FindContent = (content: string | number) => string | null;

const MODES: ReadonlyMap<string, FileMode> = new Map([
  ["100644", "file"],
  ["644", "file"],
  ["100755", "executable"],
  ["755", "executable"],
  ["120000", "link"],
]);
/** A file as old programs wrote it, and a commit of another repository. */
const OLD_FILE = /^100[0-7]{3}$/;
const SUBMODULE = "160000";

/** Changes a copy of a parent's tree. */
export class TreeEditor {
  readonly #files: Map<string, TreeFile>;
  readonly #notices: NoticeLog;
  readonly #find: FindContent;
  readonly #added: string[] = [];

  constructor(parent: GitTree, find: FindContent, notices: NoticeLog) {
    this.#files = new Map(parent);
    this.#find = find;
    this.#notices = notices;
  }

  /** The tree with all changes. */
  finish(): GitTree {
    this.#dropReplaced();
    return this.#files;
  }

  /** @throws {Error} with a message for the stream's reader, if a change cannot be applied. */
  apply(change: GitChange): void {
    switch (change.kind) {
      case "clear":
        return this.#files.clear();
      case "delete":
        return this.#delete(change.path);
      case "rename":
      case "copy":
        return this.#move(change.from, change.path, change.kind === "copy");
      case "write":
        return this.#write(change);
      case "note":
        return this.#note(change.commit, change.content);
    }
  }

  #write({ path, mode, content }: Extract<GitChange, { kind: "write" }>): void {
    if (mode === SUBMODULE) {
      this.#notices.add("submodule", readable(path), "Only Git sees the submodule");
      if (!isCommitName(content) || path.split("/").some(isGitFolder)) return this.#delete(path);
      return this.#put(path, { hash: content, mode: "file", origin: null, beyond: 0o160000 });
    }
    const fileMode = MODES.get(mode) ?? (OLD_FILE.test(mode) ? "file" : undefined);
    if (fileMode === undefined) {
      throw new TreeError(`Mode "${mode}" of "${path}" is not a file mode`);
    }
    const place = this.#placeOf(path);
    if (place === "nowhere") return;
    const hash = this.#find(content);
    if (hash === null) return this.#delete(path);
    const origin = this.#files.get(path)?.origin ?? null;
    const isBeyond = place === "beyond" || !MODES.has(mode);
    const beyond = isBeyond ? Number.parseInt(mode.padStart(6, "100"), 8) : null;
    this.#put(path, { hash, mode: fileMode, origin, beyond });
  }

  #put(path: string, file: TreeFile): void {
    if (!this.#files.has(path)) this.#added.push(path);
    if (this.#files.size >= MAX_TREE_FILES) {
      throw new TreeError(`The tree has more than ${MAX_TREE_FILES} files`);
    }
    this.#files.set(path, file);
  }

  /**
   * A note is a file named by the Git hash of its commit. The hash is unknown if the stream has
   * only a mark for the commit.
   */
  #note(commit: string, content: string | number): void {
    if (!/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(commit)) {
      this.#notices.add("note", commit, "A note on a commit without its name in Git was left out");
    } else if (typeof content === "string") this.#delete(commit);
    else this.#write({ kind: "write", path: commit, mode: "100644", content });
  }

  /** Whether a file of this path is in Fossil, only in Git, or in neither. */
  #placeOf(path: string): "both" | "beyond" | "nowhere" {
    if (path.split("/").some((part) => part === "" || isGitFolder(part))) {
      this.#notices.add("path", readable(path), "A file in a folder of Git itself was left out");
      return "nowhere";
    }
    if (isFossilPath(path)) return "both";
    this.#notices.add(
      "path",
      readable(path),
      "Only Git sees the file: Fossil cannot hold its path",
    );
    return "beyond";
  }

  /** Removes a file, or everything below a folder. */
  #delete(path: string): void {
    if (this.#files.delete(path)) return;
    for (const name of this.#below(path)) this.#files.delete(name);
  }

  #below(folder: string): string[] {
    if (folder === "") return [...this.#files.keys()];
    return [...this.#files.keys()].filter((name) => name.startsWith(`${folder}/`));
  }

  #move(from: string, path: string, isCopy: boolean): void {
    const names = this.#files.has(from) ? [from] : this.#below(from);
    if (this.#files.size + names.length > MAX_TREE_FILES) {
      throw new TreeError(`The tree has more than ${MAX_TREE_FILES} files`);
    }
    const entries = names.map((name) => ({ name, entry: this.#files.get(name)! }));
    if (!isCopy) names.forEach((name) => this.#files.delete(name));
    this.#delete(path);
    for (const { name, entry } of entries) {
      const target = path + name.slice(from.length);
      const place = this.#placeOf(target);
      if (place === "nowhere") continue;
      const origin = isCopy ? null : entry.origin ?? name;
      const beyond = entry.beyond ?? (place === "beyond" ? GIT_MODES[entry.mode] : null);
      this.#files.set(target, { ...entry, origin, beyond });
      this.#added.push(target);
    }
  }

  /**
   * A path that becomes a file loses everything below it; a path with files below is not a file.
   */
  #dropReplaced(): void {
    const added = this.#added.filter((path) => this.#files.has(path));
    if (added.length === 0) return;
    for (const path of added) {
      for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
        this.#files.delete(path.slice(0, end));
      }
    }
    const files = new Set(added.filter((path) => this.#files.has(path)));
    for (const path of this.#files.keys()) {
      for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
        if (files.has(path.slice(0, end))) this.#files.delete(path);
      }
    }
  }
}

/** A change that does not fit its tree. */
export class TreeError extends Error {
  override readonly name = "TreeError";
}

/**
 * F cards of a tree, with the renames against the parent: those that the stream tells, and files
 * that are gone from one path and stand at another one with the same content.
 */
export function cardsOf(whole: GitTree, parent: GitTree): FileCard[] {
  const tree = new Map([...whole].filter(([path, file]) => isCard(path, file)));
  const gone = new Map<string, string>();
  for (const [path, file] of parent) {
    if (!whole.has(path) && isCard(path, file)) gone.set(file.hash, path);
  }
  for (const { origin } of tree.values()) {
    if (origin !== null) gone.delete(parent.get(origin)?.hash ?? "");
  }
  return [...tree].map(([name, { hash, mode, origin }]) => {
    let oldName = origin !== null && origin !== name && parent.has(origin) ? origin : null;
    if (oldName === null && gone.size > 0 && !parent.has(name)) {
      oldName = gone.get(hash) ?? null;
      gone.delete(hash);
    }
    return { name, hash, mode, oldName };
  });
}

/** The tree of a check-in that is stored. */
export function treeFromCards(cards: readonly FileCard[]): Map<string, TreeFile> {
  return new Map(
    cards.map(({ name, hash, mode }) => {
      return [name, { hash: hash ?? "", mode, origin: null, beyond: null }];
    }),
  );
}

/** Modes in Git. */
const GIT_MODES: Readonly<Record<FileMode, number>> = {
  file: 0o100644,
  executable: 0o100755,
  link: 0o120000,
};

/** Whether Fossil holds a file, though maybe with another mode. */
function isCard(path: string, { beyond }: TreeFile): boolean {
  if (beyond === null) return true;
  return beyond !== 0o160000 && beyond !== 0o040000 && isFossilPath(path);
}

/** Whether Fossil can hold a file of this path. */
export function isFossilPath(path: string): boolean {
  return path.isWellFormed() && isFileName(path) && !isReservedFileName(path);
}

/** What a tree has and its parent does not, or the other way, and Fossil cannot hold. */
export function overlayOf(tree: GitTree, parent: GitTree): OverlayEntry[] {
  const entries: OverlayEntry[] = [];
  for (const [path, { hash, mode, beyond, zeros = 0 }] of tree) {
    const before = parent.get(path);
    if (beyond === null && (before?.beyond ?? null) === null) continue;
    const isSame = before?.hash === hash && before.beyond === beyond;
    if (isSame && (before.zeros ?? 0) === zeros) continue;
    entries.push({ path, mode: beyond ?? GIT_MODES[mode], zeros, object: hash });
  }
  for (const [path, { beyond }] of parent) {
    if (beyond !== null && !tree.has(path)) entries.push({ path, mode: 0, object: "" });
  }
  return entries.sort((left, right) => compareUtf8(left.path, right.path));
}

/** Of a tree, what Fossil cannot hold. */
export function beyondOf(tree: GitTree): GitTree {
  return new Map([...tree].filter(([, { beyond }]) => beyond !== null));
}

function isCommitName(content: string | number): content is string {
  return typeof content === "string" && /^[0-9a-f]{40}$/.test(content);
}

/** A tree as its children find it: nothing is renamed yet. */
export function settled(tree: GitTree): GitTree {
  const isSettled = tree.values().every(({ origin }) => origin === null);
  if (isSettled) return tree;
  return new Map(tree.entries().map(([path, entry]) => [path, { ...entry, origin: null }]));
}
