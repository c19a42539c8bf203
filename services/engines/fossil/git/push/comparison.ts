/** What differs between two trees. */
import { BoundedMap } from "../../../../kernel/bounded_map.ts";
import { MODE, NAME_BYTES, type TreeEntry } from "../../../git/mod.ts";
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

/** Called with a folder that is not empty, and the zeros before its mode, if they are others now. */
type VisitFolder = (path: string, zeros: number) => void;

interface Visitor {
  readonly visit: Visit;
  readonly visitFolder: VisitFolder;
}

interface Step extends Visitor {
  readonly path: string;
}

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
  compare(before: Uint8Array | null, after: Uint8Array, visitor: Visitor): void {
    this.#walk(before, after, { ...visitor, prefix: "" });
  }

  #walk(
    before: Uint8Array | null,
    after: Uint8Array | null,
    { prefix, ...visitor }: Visitor & { readonly prefix: string },
  ): void {
    if (before !== null && after !== null && isSameName(before, after)) return;
    if (prefix.length > MAX_PATH) {
      throw new FossilError("limit", `A path is longer than ${MAX_PATH} bytes`);
    }
    const left = new Map(this.#entries(before).map((entry) => [entry.name, entry]));
    for (const entry of this.#entries(after)) {
      const old = left.get(entry.name) ?? null;
      left.delete(entry.name);
      const isSame = old === entry || (old?.mode === entry.mode &&
        (old.zeros ?? 0) === (entry.zeros ?? 0) && isSameName(old.object, entry.object));
      if (!isSame) this.#change(old, entry, { ...visitor, path: prefix + textOf(entry.name) });
    }
    for (const old of left.values()) {
      this.#drop(old, { ...visitor, path: prefix + textOf(old.name) });
    }
  }

  #change(
    old: TreeEntry | null,
    entry: TreeEntry,
    step: Step,
  ): void {
    const { path, visit, visitFolder } = step;
    const isFolder = entry.mode === MODE.folder && this.#entries(entry.object).length > 0;
    const wasFolder = old?.mode === MODE.folder && this.#entries(old.object).length > 0;
    if (isFolder) {
      const { zeros = 0 } = entry;
      if (zeros !== (old?.mode === MODE.folder ? old.zeros ?? 0 : 0)) visitFolder(path, zeros);
      if (old !== null && !wasFolder) visit(path, null, old);
      return this.#walk(wasFolder ? old.object : null, entry.object, {
        prefix: `${path}/`,
        visit,
        visitFolder,
      });
    }
    if (wasFolder) this.#drop(old, step);
    visit(path, entry, wasFolder ? null : old);
  }

  #drop(
    old: TreeEntry,
    step: Step,
  ): void {
    const { path, ...visitor } = step;
    const wasFolder = old.mode === MODE.folder && this.#entries(old.object).length > 0;
    if (wasFolder) this.#walk(old.object, null, { ...visitor, prefix: `${path}/` });
    else visitor.visit(path, null, old);
  }

  #entries(tree: Uint8Array | null): readonly TreeEntry[] {
    if (tree === null) return [];
    const key = keyOf(tree);
    const kept = this.#kept.get(key);
    if (kept !== undefined) return kept;
    const entries = this.#objects.entriesOf(tree);
    this.#kept.set(key, entries);
    return entries;
  }
}

/** Whether two names of objects are the same. */
function isSameName(left: Uint8Array, right: Uint8Array): boolean {
  for (let at = 0; at < NAME_BYTES; at++) if (left[at] !== right[at]) return false;
  return true;
}
