/** The tree of a commit: its parent's tree with the changes of the stream. */
import { isFileName, isGitFolder, isReservedFileName, MAX_TREE_FILES } from "../artifact/mod.ts";
import type { FileCard, FileMode } from "../artifact/mod.ts";
import type { GitChange } from "./stream/mod.ts";
import type { NoticeLog } from "./notices.ts";

/** One file; `origin` is its path in the parent if the stream says that it was renamed. */
interface TreeFile {
  readonly hash: string;
  readonly mode: FileMode;
  readonly origin: string | null;
}

/** Files by path. */
export type GitTree = ReadonlyMap<string, TreeFile>;

/** The hash of a content in the stream; null if it was skipped. */
export type FindContent = (content: string | number) => string | null;

const MODES: ReadonlyMap<string, FileMode> = new Map([
  ["100644", "file"],
  ["644", "file"],
  ["100664", "file"],
  ["100755", "executable"],
  ["755", "executable"],
  ["120000", "link"],
]);
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
      this.#notices.add("submodule", path, "Submodules are not imported");
      return this.#delete(path);
    }
    const fileMode = MODES.get(mode);
    if (fileMode === undefined) {
      throw new TreeError(`Mode "${mode}" of "${path}" is not a file mode`);
    }
    if (!this.#isPossible(path)) return;
    const hash = this.#find(content);
    if (hash === null) return this.#delete(path);
    const known = this.#files.get(path);
    if (known === undefined) this.#added.push(path);
    if (this.#files.size >= MAX_TREE_FILES) {
      throw new TreeError(`The tree has more than ${MAX_TREE_FILES} files`);
    }
    this.#files.set(path, { hash, mode: fileMode, origin: known?.origin ?? null });
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

  #isPossible(path: string): boolean {
    if (path.includes("\ufffd")) {
      this.#notices.add("encoding", path, "A path that is not UTF-8 was converted");
    }
    const isPossible = isFileName(path) && !isReservedFileName(path);
    if (isPossible && !path.split("/").some(isGitFolder)) return true;
    if (isPossible) {
      this.#notices.add("path", path, "A file in a folder of Git itself was left out");
      return false;
    }
    this.#notices.add("path", path, "Fossil cannot hold a file of this path");
    return false;
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
      if (!this.#isPossible(target)) continue;
      const origin = isCopy ? null : entry.origin ?? name;
      this.#files.set(target, { ...entry, origin });
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
export function cardsOf(tree: GitTree, parent: GitTree): FileCard[] {
  const gone = new Map<string, string>();
  for (const [path, { hash }] of parent) {
    if (!tree.has(path)) gone.set(hash, path);
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
    cards.map(({ name, hash, mode }) => [name, { hash: hash ?? "", mode, origin: null }]),
  );
}

/** A tree as its children find it: nothing is renamed yet. */
export function settled(tree: GitTree): GitTree {
  const isSettled = tree.values().every(({ origin }) => origin === null);
  if (isSettled) return tree;
  return new Map(tree.entries().map(([path, entry]) => [path, { ...entry, origin: null }]));
}
