/** The files of a commit, by path, and the trees that name them. */
import {
  compareEntries,
  formatTree,
  GitError,
  type GitObject,
  hexOf,
  MODE,
  nameOfObject,
  parseTree,
  type TreeEntry,
} from "../../services/engines/git/mod.ts";

/** Most files of a commit, and longest path, in bytes. */
const [MAX_FILES, MAX_PATH] = [1_000_000, 4000];

/** What is at a path: what a tree says of it, without its name. */
export type FileEntry = Omit<TreeEntry, "name">;

/** The files of a commit. Paths are bytes as `latin1`, as in Git's trees. */
export class FileTree {
  static readonly EMPTY = new FileTree({
    root: null,
    entries: new Map(),
    zeros: new Map(),
    trees: new Set(),
  });

  /** The name of its own tree; null for none. */
  readonly root: string | null;
  readonly entries: ReadonlyMap<string, FileEntry>;
  /** The names of its trees. */
  readonly trees: ReadonlySet<string>;
  /** Zeros before the modes of folders, by path: old programs wrote them. */
  readonly #zeros: ReadonlyMap<string, number>;

  private constructor(parts: {
    readonly root: string | null;
    readonly entries: ReadonlyMap<string, FileEntry>;
    readonly zeros: ReadonlyMap<string, number>;
    readonly trees: ReadonlySet<string>;
  }) {
    this.root = parts.root;
    this.entries = parts.entries;
    this.#zeros = parts.zeros;
    this.trees = parts.trees;
  }

  /** @throws {GitError} a tree is missing or malformed, or a bound is hit */
  static of(commit: string, objects: ReadonlyMap<string, GitObject>): FileTree {
    const content = objects.get(commit)?.content;
    const [, root] = /^tree ([0-9a-f]{40})\n/.exec(new TextDecoder().decode(content)) ?? [];
    if (root === undefined) throw new GitError(`It lacks the commit ${commit}`);
    const entries = new Map<string, FileEntry>();
    const zeros = new Map<string, number>();
    const trees = new Set<string>();
    const folders = [{ path: "", name: root }];
    for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
      const tree = objects.get(folder.name);
      if (tree === undefined) throw new GitError(`It lacks the tree ${folder.name}`);
      if (folder.path.length > MAX_PATH) throw new GitError("It has a path that is too long");
      trees.add(folder.name);
      const parts = parseTree(tree.content);
      if (parts.length === 0 && folder.path !== "") {
        const object = nameOfObject("tree", tree.content);
        entries.set(folder.path.slice(0, -1), { mode: MODE.folder, object });
      }
      for (const { name, ...entry } of parts) {
        const path = folder.path + name;
        if (entry.mode !== MODE.folder) entries.set(path, entry);
        else {
          if (entry.zeros !== undefined) zeros.set(path, entry.zeros);
          folders.push({ path: `${path}/`, name: hexOf(entry.object) });
        }
      }
      if (entries.size > MAX_FILES) throw new GitError(`It has more than ${MAX_FILES} files`);
    }
    return new FileTree({ root, entries, zeros, trees });
  }

  /** The trees of other files in this one's form; the last one is the root. */
  write(entries: ReadonlyMap<string, FileEntry>): Map<string, Uint8Array> {
    const root: Folder = new Map();
    for (const [path, entry] of entries) {
      const parts = path.split("/");
      const name = parts.pop()!;
      let folder = root;
      for (const part of parts) {
        const inside = folder.get(part);
        if (inside instanceof Map) folder = inside;
        else {
          const made: Folder = new Map();
          folder.set(part, made);
          folder = made;
        }
      }
      folder.set(name, entry);
    }
    const trees = new Map<string, Uint8Array>();
    this.#write(root, "", trees);
    return trees;
  }

  #write(folder: Folder, path: string, trees: Map<string, Uint8Array>): Uint8Array {
    const entries: TreeEntry[] = [];
    for (const [name, entry] of folder) {
      if (!(entry instanceof Map)) {
        entries.push({ name, ...entry });
        continue;
      }
      const inside = path + name;
      const zeros = this.#zeros.get(inside);
      const object = this.#write(entry, `${inside}/`, trees);
      entries.push({ name, mode: MODE.folder, ...zeros === undefined ? {} : { zeros }, object });
    }
    const content = formatTree(entries.sort(compareEntries));
    const name = nameOfObject("tree", content);
    trees.delete(hexOf(name));
    trees.set(hexOf(name), content);
    return name;
  }
}

/** What is in a folder, by name. */
type Folder = Map<string, FileEntry | Folder>;
