/** Objects that the repository has, and those that a push brings. */
import { inflateSync } from "node:zlib";
import { formatTree, type ObjectKind, parseTree, type TreeEntry } from "../../../git/mod.ts";
import { unwrapped } from "../wrapped.ts";
import type { GitCompanion } from "../door/mod.ts";
import { KIND } from "../door/schema.ts";
import type { Draft, DraftObject } from "./draft.ts";

const KINDS: Readonly<Record<number, ObjectKind>> = {
  [KIND.commit]: "commit",
  [KIND.tree]: "tree",
  [KIND.blob]: "blob",
  [KIND.tag]: "tag",
};

/** An object of the repository: its row in the table of its kind. */
export interface KnownObject {
  readonly kind: ObjectKind;
  readonly place: number;
}

/** Finds an object of the repository; null if it is not there. */
export function findKnown({ db }: GitCompanion, name: Uint8Array): KnownObject | null {
  const row = db.row<{ kind: number; place: number }>(
    "SELECT kind, place FROM object WHERE name=?",
    name,
  );
  return row === undefined ? null : { kind: KINDS[row.kind]!, place: row.place };
}

/** How many bytes an object of the repository has, about. */
export function sizeOf({ db, reader }: GitCompanion, { kind, place }: KnownObject): number {
  if (kind === "blob") return reader.repository.store.sizeOf(place);
  const table = kind === "commit" ? "revision" : kind;
  return db.value<number>(`SELECT size FROM ${table} WHERE id=?`, place) ?? 0;
}

/** The bytes of an object of the repository. */
export function contentOf(companion: GitCompanion, { kind, place }: KnownObject): Uint8Array {
  const { db, trees, reader: { repository } } = companion;
  const inflated = (table: string) =>
    inflateSync(db.value<Uint8Array>(`SELECT data FROM ${table} WHERE id=?`, place)!);
  switch (kind) {
    case "commit":
      return inflated("revision");
    case "tag":
      return inflated("tag");
    case "tree":
      return formatTree(trees.get(place).entries);
    case "blob":
      return unwrapped(repository.store.require(place));
  }
}

/** The objects of the repository and of a push together. */
export class AllObjects {
  readonly companion: GitCompanion;
  readonly draft: Draft | null;

  /** @param draft null for a push without objects */
  constructor(companion: GitCompanion, draft: Draft | null) {
    this.companion = companion;
    this.draft = draft;
  }

  /** The row of an object in the repository's table of its kind; 0 if it is not there. */
  placeOf(name: Uint8Array, kind: ObjectKind): number {
    const known = findKnown(this.companion, name);
    return known?.kind === kind ? known.place : 0;
  }

  kindOf(name: Uint8Array): ObjectKind | null {
    return this.draft?.kindOf(name) ?? findKnown(this.companion, name)?.kind ?? null;
  }

  /** The entries of a tree, which is there. */
  entriesOf(tree: Uint8Array): readonly TreeEntry[] {
    const place = this.placeOf(tree, "tree");
    return place === 0
      ? parseTree(this.draft!.get(tree)!.content)
      : this.companion.trees.get(place).entries;
  }

  /** An object; null if it is nowhere. */
  get(name: Uint8Array): DraftObject | null {
    const pushed = this.draft?.get(name) ?? null;
    if (pushed !== null) return pushed;
    const known = findKnown(this.companion, name);
    return known === null ? null : { kind: known.kind, content: contentOf(this.companion, known) };
  }
}
