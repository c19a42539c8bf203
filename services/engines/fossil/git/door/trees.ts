/** The trees of a companion: made from those of the parents, and stored as deltas of them. */
import { Buffer } from "node:buffer";
import { inflateSync } from "node:zlib";
import { BoundedMap } from "../../../../kernel/bounded_map.ts";
import { compressed, compressedDelta } from "../../../../kernel/compression.ts";
import {
  applyDelta,
  compareEntries,
  DeltaWriter,
  formatTree,
  MODE,
  nameOfObject,
  parseTree,
  type TreeEntry,
} from "../../../git/mod.ts";
import { MAX_ARTIFACT_BYTES } from "../../codec/mod.ts";
import type { Database } from "../../content/mod.ts";
import { FossilError } from "../../error.ts";
import { addTo, TextMap } from "../../text/mod.ts";
import { decodeText, encodeText } from "../stream/mod.ts";
import { rowsOf } from "./rows.ts";
import { KIND } from "./schema.ts";

/** Deltas between a tree and the whole one that it is made from. */
const MAX_DEPTH = 40;
/** A delta longer than this share of its tree is not worth a step to its base. */
const WORTHWHILE = 0.6;
/** Entries of trees that are kept in memory. */
const KEPT_ENTRIES = 200_000;

/** What becomes of a path: a file, or nothing; or a folder that keeps what is in it. */
export interface PathChange {
  readonly path: string;
  /** Null if nothing is there any more. */
  readonly entry: Omit<TreeEntry, "name"> | null;
  /** Zeros before the mode of a folder, which otherwise keeps its mode; `entry` does not count then. */
  readonly zeros?: number;
}

/** A tree of the companion, with its entries. */
export interface StoredTree {
  readonly id: number;
  readonly name: Uint8Array;
  /** How many deltas there are to the whole tree that it is made from. */
  readonly depth: number;
  readonly entries: readonly TreeEntry[];
}

/** A tree as a row has it: the zlib stream of all of it, or of a delta of another. */
export interface TreeRow {
  readonly id: number;
  readonly name: Uint8Array;
  readonly origin: number;
  readonly size: number;
  /** 0 for a whole tree. */
  readonly base: number;
  /** Bytes of the tree or delta, before it is compressed. */
  readonly depth: number;
  readonly stored: number;
  readonly data: Uint8Array;
}

const SELECT = "SELECT id, name, origin, size, base, depth, stored, data FROM tree";

/** Makes and reads trees. */
export class TreeStore {
  readonly #db: Database;
  readonly #kept = new BoundedMap<number, StoredTree>({
    most: KEPT_ENTRIES,
    mostOfOne: KEPT_ENTRIES / 2,
    weigh: ({ entries }) => entries.length + 10,
  });

  constructor(db: Database) {
    this.#db = db;
  }

  /** Forgets what a transaction has made that was rolled back. */
  forget(): void {
    this.#kept.clear();
  }

  /** A tree by its row. */
  get(id: number): StoredTree {
    const known = this.#kept.get(id);
    if (known !== undefined) return known;
    const { name, depth } = this.row(id);
    const tree = { id, name, depth, entries: parseTree(this.contentOf(id)) };
    this.#kept.set(id, tree);
    return tree;
  }

  /** The row of a tree. */
  row(id: number): TreeRow {
    const row = this.#db.row<TreeRow>(`${SELECT} WHERE id=?`, id);
    if (row === undefined) throw new FossilError("corrupt", `The companion lacks tree ${id}`);
    return row;
  }

  /** The rows of trees, the earliest first. */
  rows(ids: Iterable<number>): Iterable<TreeRow> {
    return rowsOf(this.#db, `${SELECT} WHERE id IN (?) ORDER BY id`, ids);
  }

  /** The row of a tree by its name; 0 if there is none. */
  find(name: Uint8Array): number {
    const select = "SELECT place FROM object WHERE name=? AND kind=?";
    return this.#db.value<number>(select, name, KIND.tree) ?? 0;
  }

  /** The bytes of a tree. */
  contentOf(id: number): Uint8Array {
    const deltas: Uint8Array[] = [];
    let row = this.row(id);
    for (; row.base !== 0; row = this.row(row.base)) deltas.push(inflateSync(row.data));
    let content: Uint8Array = inflateSync(row.data);
    for (const delta of deltas.reverse()) content = applyDelta(content, delta, MAX_ARTIFACT_BYTES);
    return content;
  }

  /**
   * The row of the tree that a commit has: that of its first parent with changes. Needs a transaction.
   *
   * @param root row of the parent's tree; 0 for none
   * @param origin row of the commit
   * @param touched gets the rows of all trees in which something may have changed
   */
  change(
    root: number,
    changes: readonly PathChange[],
    { origin, touched }: { readonly origin: number; readonly touched: Set<number> },
  ): number {
    const listed = changes.map((change): Step => ({ ...change, start: 0 }));
    const maker = new TreeMaker(this, (entries, base) => {
      const tree = this.#put(entries, base, origin);
      touched.add(tree.id);
      return tree;
    });
    // No tree has the empty one as its base.
    if (changes.some(({ entry }) => entry?.mode === MODE.folder)) maker.empty();
    if (listed.length > 0 || root === 0) {
      return maker.change(root === 0 ? null : this.get(root), listed)?.id ?? maker.empty().id;
    }
    return root;
  }

  /** Adds a tree that no commit has yet. Needs a transaction. */
  add(content: Uint8Array): StoredTree {
    return this.#put(parseTree(content), null, 0);
  }

  /** Stores a tree, unless it is there already. */
  #put(entries: readonly TreeEntry[], base: StoredTree | null, origin: number): StoredTree {
    const content = formatTree(entries);
    const name = nameOfObject("tree", content);
    const found = this.find(name);
    const tree = found === 0
      ? this.#insert({ name, content, entries, base, origin })
      : { id: found, name, depth: this.#depthOf(found), entries };
    this.#kept.set(tree.id, tree);
    return tree;
  }

  #depthOf(id: number): number {
    return this.#db.value<number>("SELECT depth FROM tree WHERE id=?", id)!;
  }

  #insert({ name, content, entries, base, origin }: {
    readonly name: Uint8Array;
    readonly content: Uint8Array;
    readonly entries: readonly TreeEntry[];
    readonly base: StoredTree | null;
    readonly origin: number;
  }): StoredTree {
    const before = base === null ? 0 : base.depth + 1;
    const delta = base === null || before > MAX_DEPTH ? null : treeDelta(base.entries, entries);
    const isDelta = delta !== null && delta.length < content.length * WORTHWHILE;
    const stored = isDelta ? delta : content;
    const depth = isDelta ? before : 0;
    const id = this.#db.insert(
      "INSERT INTO tree(name,origin,size,base,depth,stored,data) VALUES(?,?,?,?,?,?,?)",
      name,
      origin,
      content.length,
      isDelta ? base!.id : 0,
      depth,
      stored.length,
      isDelta ? compressedDelta(stored) : compressed(stored),
    );
    this.#db.run("INSERT INTO object VALUES(?,?,?)", name, KIND.tree, id);
    return { id, name, depth, entries };
  }

  /**
   * Visits everything below a tree, each tree before what it has, unless it is refused.
   *
   * @param enter called with the row of each tree and its depth; returns whether to go on below it
   * @param file called with each entry that is no tree, and its depth
   */
  walk(
    root: number,
    enter: (id: number, depth: number) => boolean,
    file: (entry: TreeEntry, depth: number) => void,
  ): void {
    const stack = [{ id: root, depth: 0 }];
    for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
      if (!enter(next.id, next.depth)) continue;
      const depth = next.depth + 1;
      for (const entry of this.get(next.id).entries) {
        if (entry.mode !== MODE.folder) file(entry, depth);
        else stack.push({ id: this.find(entry.object), depth });
      }
    }
  }
}

/** A change of a path; what comes before `start` was the folders above. */
interface Step extends PathChange {
  readonly start: number;
}

/** Changes a tree, and those below it. */
class TreeMaker {
  readonly #trees: Pick<TreeStore, "get" | "find">;
  readonly #put: (entries: readonly TreeEntry[], base: StoredTree | null) => StoredTree;

  constructor(
    trees: Pick<TreeStore, "get" | "find">,
    put: (entries: readonly TreeEntry[], base: StoredTree | null) => StoredTree,
  ) {
    this.#trees = trees;
    this.#put = put;
  }

  empty(): StoredTree {
    return this.#put([], null);
  }

  /** Null if nothing is left. */
  change(base: StoredTree | null, steps: readonly Step[]): StoredTree | null {
    const changes = new TextMap<Step[]>();
    for (const step of steps) addTo(changes, step.path.slice(step.start, endOf(step)), step);
    const entries: TreeEntry[] = [];
    let isInOrder = true;
    for (const entry of base?.entries ?? []) {
      const segment = textOf(entry.name);
      const own = changes.get(segment);
      if (own === undefined) {
        entries.push(entry);
        continue;
      }
      changes.delete(segment);
      const changed = this.#entry(entry, own);
      if (changed === null) continue;
      isInOrder &&= changed.mode === entry.mode;
      entries.push(changed);
    }
    for (const own of changes.values()) {
      const added = this.#entry(null, own);
      if (added === null) continue;
      isInOrder = false;
      entries.push(added);
    }
    if (entries.length === 0) return null;
    return this.#put(isInOrder ? entries : entries.sort(compareEntries), base);
  }

  #entry(before: TreeEntry | null, steps: readonly Step[]): TreeEntry | null {
    const here = steps.filter((step) => endOf(step) === step.path.length);
    const own = here.findLast(({ zeros }) => zeros === undefined);
    const first = steps[0]!;
    const name = bytesOf(first.path.slice(first.start, endOf(first)));
    if (own?.entry) return { name, ...own.entry };
    const below = steps.filter((step) => endOf(step) < step.path.length)
      .map((step) => ({ ...step, start: endOf(step) + 1 }));
    const isFolder = before?.mode === MODE.folder;
    const told = here.find(({ zeros }) => zeros !== undefined)?.zeros;
    const zeros = told ?? (isFolder ? before.zeros ?? 0 : 0);
    if (below.length > 0) {
      const base = isFolder ? this.#trees.get(this.#trees.find(before.object)) : null;
      const tree = this.change(base, below);
      if (tree !== null) return { name, mode: MODE.folder, zeros, object: tree.name };
    }
    if (!isFolder) return own === undefined ? before : null;
    const isKept = below.length === 0 && (own === undefined || !this.#isEmpty(before));
    return isKept ? { ...before, zeros } : null;
  }

  #isEmpty({ object }: TreeEntry): boolean {
    return this.#trees.get(this.#trees.find(object)).entries.length === 0;
  }
}

/** Where the first part of a path ends, from the start of a step. */
function endOf({ path, start }: Step): number {
  const slash = path.indexOf("/", start);
  return slash < 0 ? path.length : slash;
}

/** A part of a path as an entry has it: a character for each of its bytes. */
function bytesOf(part: string): string {
  return isAscii(part) ? part : Buffer.from(encodeText(part)).toString("latin1");
}

/** The text of the name of an entry. */
export function textOf(name: string): string {
  return isAscii(name) ? name : decodeText(Buffer.from(name, "latin1"));
}

function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    if (text.charCodeAt(at) > 0x7f) return false;
  }
  return true;
}

/** The delta between two trees, of whole entries. */
function treeDelta(base: readonly TreeEntry[], result: readonly TreeEntry[]): Uint8Array {
  const writer = new DeltaWriter({ base: lengthOf(base), result: lengthOf(result) });
  let [place, offset] = [0, 0];
  let [start, end] = [0, 0];
  const flush = () => writer.copy(start, end);
  for (const entry of result) {
    while (place < base.length && !isSame(base[place]!, entry)) {
      if (compareEntries(base[place]!, entry) > 0) break;
      offset += lengthOf([base[place++]!]);
    }
    const found = base[place];
    if (found !== undefined && isSame(found, entry)) {
      const length = lengthOf([found]);
      if (end !== offset) {
        flush();
        start = offset;
      }
      offset += length;
      end = offset;
      place++;
    } else {
      flush();
      start = end = -1;
      writer.insert(formatTree([entry]));
    }
  }
  flush();
  return writer.finish();
}

function isSame(left: TreeEntry, right: TreeEntry): boolean {
  if (left === right) return true;
  return left.name === right.name && left.mode === right.mode &&
    (left.zeros ?? 0) === (right.zeros ?? 0) &&
    Buffer.compare(left.object, right.object) === 0;
}

/** Bytes of entries in a tree. */
function lengthOf(entries: readonly TreeEntry[]): number {
  const digits = ({ mode, zeros = 0 }: TreeEntry) =>
    zeros + (mode >= 0o100000 ? 6 : mode.toString(8).length);
  return entries.reduce((sum, entry) => sum + digits(entry) + entry.name.length + 22, 0);
}
