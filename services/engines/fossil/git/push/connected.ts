/** The objects that a push must bring. */
import {
  bytesOfName,
  GitError,
  hexOf,
  MODE,
  type ObjectKind,
  parseTree,
} from "../../../git/mod.ts";
import { MAX_PATH, MAX_TREE_FILES } from "../../artifact/mod.ts";
import { parseCommit, parseTag } from "../check.ts";
import { keyOf } from "./draft.ts";
import type { AllObjects } from "./known.ts";

/**
 * Checks that everything which some objects reach is here, and that no tree unfolds to more files than
 * a check-in can have: a few trees that name each other often make billions.
 *
 * @throws {GitError}
 */
export function requireConnected(
  objects: AllObjects,
  tips: readonly string[],
  check: () => void,
): void {
  const trees = new TreeWalk(objects);
  const seen = new Set<string>();
  const stack: { name: Uint8Array; kind: ObjectKind | null }[] = tips.map((tip) => {
    return { name: bytesOfName(tip), kind: null };
  });
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { name, kind } = next;
    check();
    const key = keyOf(name);
    if (seen.has(key) && kind === null) continue;
    const found = objects.kindOf(name);
    requireKind(name, found, kind);
    if (seen.has(key) || objects.placeOf(name, found!) !== 0) continue;
    seen.add(key);
    if (found === "tree") trees.enter(name);
    else if (found === "commit") {
      const { tree, parents } = parseCommit(objects.get(name)!.content);
      trees.enter(tree);
      for (const parent of parents) stack.push({ name: parent, kind: "commit" });
    } else if (found === "tag") {
      const { object, type } = parseTag(objects.get(name)!.content);
      stack.push({ name: object, kind: type });
    }
  }
}

function requireKind(name: Uint8Array, found: ObjectKind | null, kind: ObjectKind | null): void {
  if (found === null) {
    throw new GitError(
      `The ${kind ?? "object"} ${hexOf(name)} is missing: neither the push nor the project has it`,
    );
  }
  if (kind === null || found === kind) return;
  throw new GitError(`The object ${hexOf(name)} is a ${found}, and a ${kind} is expected`);
}

/** Most names of contents that are remembered. */
const MAX_REMEMBERED = 500_000;

/** A tree that is being looked at. */
interface Level {
  readonly name: Uint8Array;
  readonly entries: ReturnType<typeof parseTree>;
  next: number;
  files: number;
  /** Bytes of the path so far. */
  readonly path: number;
}

class TreeWalk {
  readonly #objects: AllObjects;
  /** How many files a tree of the push has. */
  readonly #files = new Map<string, number>();
  /** Contents that are here: trees name most of them again and again. */
  readonly #blobs = new Set<string>();

  constructor(objects: AllObjects) {
    this.#objects = objects;
  }

  enter(root: Uint8Array): void {
    const stack: Level[] = [];
    const push = (name: Uint8Array, path: number) => {
      const key = keyOf(name);
      const known = this.#files.get(key);
      if (known !== undefined) return known;
      requireKind(name, this.#objects.kindOf(name), "tree");
      if (this.#objects.placeOf(name, "tree") !== 0) {
        this.#files.set(key, 0);
        return 0;
      }
      const entries = parseTree(this.#objects.get(name)!.content);
      stack.push({ name, entries, next: 0, files: 0, path });
      return null;
    };
    push(root, 0);
    for (let level = stack.at(-1); level !== undefined; level = stack.at(-1)) {
      const entry = level.entries[level.next];
      if (entry === undefined) {
        stack.pop();
        this.#files.set(keyOf(level.name), level.files);
        continue;
      }
      const { name, mode, object } = entry;
      const path = level.path + name.length + 1;
      if (path > MAX_PATH) throw new GitError(`A path is longer than ${MAX_PATH} bytes`);
      let files = 1;
      if (mode === MODE.folder) {
        const count = push(object, path);
        if (count === null) continue;
        files = count;
      } else if (mode !== MODE.submodule) {
        this.#requireBlob(object);
      }
      level.next++;
      level.files += files;
      if (level.files > MAX_TREE_FILES) {
        throw new GitError(`The tree ${hexOf(level.name)} has more than ${MAX_TREE_FILES} files`);
      }
    }
  }

  #requireBlob(name: Uint8Array): void {
    const key = keyOf(name);
    if (this.#blobs.has(key)) return;
    requireKind(name, this.#objects.kindOf(name), "blob");
    if (this.#blobs.size === MAX_REMEMBERED) this.#blobs.clear();
    this.#blobs.add(key);
  }
}
