/** Adds to a companion what tags name that is no check-in. */
import { compressed } from "../../../../kernel/compression.ts";
import { GitError, MODE, nameOfObject, parseTree } from "../../../git/mod.ts";
import { MAX_TREE_FILES } from "../../artifact/mod.ts";
import type { Database } from "../../content/mod.ts";
import type { Repository } from "../../repository.ts";
import { checkObject, parseTag } from "../check.ts";
import type { GitObject } from "../commit.ts";
import { type ListedObject, parseListing } from "../listing.ts";
import { Oddities } from "../oddities.ts";
import { unwrapped } from "../wrapped.ts";
import type { CommitGraph } from "./graph.ts";
import { KIND } from "./schema.ts";
import type { TreeStore } from "./trees.ts";

export interface ListedParts {
  readonly db: Database;
  readonly graph: CommitGraph;
  readonly repository: Repository;
  readonly trees: TreeStore;
  /** The name of a commit by its number. */
  nameOf(id: number): Uint8Array;
  /** The name of a content, which this adds if it is new; null if it is not served. */
  fileName(rid: number): Uint8Array | null;
  /** Whether an artifact is neither private nor shunned. */
  isServed(rid: number): boolean;
}

/** What a reference names, and what a tag is of at last. */
export interface ListedTarget {
  readonly object: Uint8Array;
  /** Null if it is no tag. */
  readonly peeled: Uint8Array | null;
}

/**
 * What the list in an artifact names; null if it is no list, or if something is missing or malformed.
 * Needs `read`, and a transaction of the companion.
 */
export function listedTarget(parts: ListedParts, rid: number): ListedTarget | null {
  const objects = parts.isServed(rid) ? parts.repository.store.get(rid) : null;
  const listing = objects === null ? null : parseListing(objects);
  if (listing === null) return null;
  try {
    return new ListedObjects(parts).add(listing);
  } catch (error) {
    if (error instanceof GitError) return null;
    throw error;
  }
}

/** Makes the object of an annotated tag, unless it is there. Needs a transaction of the companion. */
export function addTag(db: Database, { name, content }: GitObject, target: Uint8Array): void {
  if (db.exists("SELECT 1 FROM tag WHERE name=?", name)) return;
  const id = db.insert(
    "INSERT INTO tag(name,target,size,data) VALUES(?,?,?,?)",
    name,
    target,
    content.length,
    compressed(content),
  );
  db.run("INSERT OR IGNORE INTO object VALUES(?,?,?)", name, KIND.tag, id);
}

class ListedObjects {
  readonly #parts: ListedParts;
  /** How many files the trees of the list have, by their names. */
  readonly #files = new Map<string, number>();

  constructor(parts: ListedParts) {
    this.#parts = parts;
  }

  /** @throws {GitError} */
  add(listing: readonly ListedObject[]): ListedTarget {
    const last = listing.at(-1)!;
    // Whatever is here has all that it names.
    const known = this.#nameOf(last);
    let object = known;
    if (this.#kindOf(known) === null) { for (const one of listing) object = this.#add(one); }
    const target = this.#targetOf(object);
    return { object, peeled: target === null ? null : this.#peeled(target) };
  }

  #peeled(target: Uint8Array): Uint8Array {
    for (let next: Uint8Array | null = target; next !== null; next = this.#targetOf(next)) {
      target = next;
    }
    return target;
  }

  #targetOf(tag: Uint8Array): Uint8Array | null {
    return this.#parts.db.value<Uint8Array>("SELECT target FROM tag WHERE name=?", tag) ?? null;
  }

  #kindOf(name: Uint8Array): number | null {
    return this.#parts.db.value<number>("SELECT kind FROM object WHERE name=?", name) ?? null;
  }

  #contentOf(artifact: string): Uint8Array {
    const { repository: { store }, isServed } = this.#parts;
    const rid = store.ridOf(artifact);
    const content = rid !== 0 && isServed(rid) ? store.get(rid) : null;
    if (content === null) throw new GitError(`The artifact ${artifact} is missing`);
    return unwrapped(content);
  }

  #nameOf({ kind, artifact }: ListedObject): Uint8Array {
    const { graph, nameOf, repository: { store } } = this.#parts;
    if (kind !== "commit") return nameOfObject(kind, this.#contentOf(artifact));
    const id = graph.idOf(store.ridOf(artifact));
    if (id === 0) throw new GitError(`The check-in ${artifact} is missing`);
    return nameOf(id);
  }

  #add(listed: ListedObject): Uint8Array {
    const { kind, artifact } = listed;
    if (kind === "commit") return this.#nameOf(listed);
    const { fileName, repository: { store } } = this.#parts;
    if (kind === "blob") {
      const name = fileName(store.ridOf(artifact));
      if (name === null) throw new GitError(`The file ${artifact} is missing`);
      return name;
    }
    const content = this.#contentOf(artifact);
    checkObject({ kind, hex: artifact, content }, new Oddities(Date.now() / 1000));
    return kind === "tag" ? this.#addTag(content) : this.#addTree(content);
  }

  #addTag(content: Uint8Array): Uint8Array {
    const { object, type } = parseTag(content);
    if (this.#kindOf(object) !== KIND[type]) throw new GitError("A tag is of something else");
    const name = nameOfObject("tag", content);
    addTag(this.#parts.db, { kind: "tag", name, content }, object);
    return name;
  }

  #addTree(content: Uint8Array): Uint8Array {
    let files = 0;
    for (const { mode, object } of parseTree(content)) {
      if (mode === MODE.submodule) continue;
      const kind = mode === MODE.folder ? KIND.tree : KIND.blob;
      if (this.#kindOf(object) !== kind) throw new GitError("A tree names what is missing");
      files += this.#files.get(`${object}`) ?? 1;
    }
    if (files > MAX_TREE_FILES) throw new GitError(`A tree has more than ${MAX_TREE_FILES} files`);
    const { name } = this.#parts.trees.add(content);
    this.#files.set(`${name}`, files);
    return name;
  }
}
