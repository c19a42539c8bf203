/** What differs between two trees. */
import { Buffer } from "node:buffer";
import { BoundedMap } from "../../../../kernel/bounded_map.ts";
import { MODE, parseTree, type TreeEntry } from "../../../git/mod.ts";
import { MAX_PATH } from "../../artifact/mod.ts";
import { FossilError } from "../../error.ts";
import { textOf } from "../door/trees.ts";
import { keyOf } from "./draft.ts";
import type { AllObjects } from "./known.ts";

/** Entries of trees that are kept in memory. */
const KEPT_ENTRIES = 200_000;

/** A file, a submodule or a folder without anything; null for nothing. */
type Place = TreeEntry | null;

/** Called with what is at a path now, and what was there before. */
type Visit = (path: string, now: Place, before: Place) => void;

/** Compares trees. */
export class TreeComparison {
  readonly #objects: AllObjects;
  readonly #kept = new BoundedMap<string, readonly TreeEntry[]>({
    most: KEPT_ENTRIES,
    mostOfOne: KEPT_ENTRIES / 2,
    weigh: (entries) => entries.length + 10,
  });

  constructor(objects: AllObjects) {
    this.#objects = objects;
  }

  /**
   * Visits what differs, each path once.
   *
   * @param before the name of a tree; null for none
   */
  compare(before: Uint8Array | null, after: Uint8Array, visit: Visit): void {
    this.#walk(before, after, { prefix: "", visit });
  }

  #walk(
    before: Uint8Array | null,
    after: Uint8Array | null,
    { prefix, visit }: { readonly prefix: string; readonly visit: Visit },
  ): void {
    if (before !== null && after !== null && Buffer.compare(before, after) === 0) return;
    if (prefix.length > MAX_PATH) {
      throw new FossilError("limit", `A path is longer than ${MAX_PATH} bytes`);
    }
    const left = new Map(this.#entries(before).map((entry) => [entry.name, entry]));
    for (const entry of this.#entries(after)) {
      const old = left.get(entry.name) ?? null;
      left.delete(entry.name);
      const isSame = old?.mode === entry.mode && Buffer.compare(old.object, entry.object) === 0;
      if (!isSame) this.#change(old, entry, { path: prefix + textOf(entry.name), visit });
    }
    for (const old of left.values()) this.#drop(old, { path: prefix + textOf(old.name), visit });
  }

  #change(
    old: TreeEntry | null,
    entry: TreeEntry,
    { path, visit }: { readonly path: string; readonly visit: Visit },
  ): void {
    const isFolder = entry.mode === MODE.folder && this.#entries(entry.object).length > 0;
    const wasFolder = old?.mode === MODE.folder && this.#entries(old.object).length > 0;
    if (isFolder) {
      if (old !== null && !wasFolder) visit(path, null, old);
      return this.#walk(wasFolder ? old.object : null, entry.object, { prefix: `${path}/`, visit });
    }
    if (wasFolder) this.#drop(old, { path, visit });
    visit(path, entry, wasFolder ? null : old);
  }

  #drop(
    old: TreeEntry,
    { path, visit }: { readonly path: string; readonly visit: Visit },
  ): void {
    const wasFolder = old.mode === MODE.folder && this.#entries(old.object).length > 0;
    if (wasFolder) this.#walk(old.object, null, { prefix: `${path}/`, visit });
    else visit(path, null, old);
  }

  #entries(tree: Uint8Array | null): readonly TreeEntry[] {
    if (tree === null) return [];
    const key = keyOf(tree);
    const kept = this.#kept.get(key);
    if (kept !== undefined) return kept;
    const entries = parseTree(this.#objects.get(tree)!.content);
    this.#kept.set(key, entries);
    return entries;
  }
}
