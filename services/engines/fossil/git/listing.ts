/**
 * What a tag names in Git that is no check-in: a tree, a file, or another tag. An artifact lists the
 * objects, each after those that it names, with its kind and its artifact, which has its bytes; the last
 * is what the reference names. A commit is a check-in. A control artifact puts the reference on the list.
 */
import { OBJECT_KINDS, type ObjectKind } from "../../git/mod.ts";
import { decodeUtf8, encodeUtf8 } from "../codec/mod.ts";

/** Most tags between a tag and what it is of. */
export const MAX_NESTED = 10;
const HEAD = "git-objects\n";
const LINE = new RegExp(`^(${OBJECT_KINDS.join("|")}) ([0-9a-f]{40}|[0-9a-f]{64})$`);

/** An object of a list. */
export interface ListedObject {
  readonly kind: ObjectKind;
  /** The artifact that has its bytes, or the check-in. */
  readonly artifact: string;
}

/** The content of the artifact. */
export function formatListing(objects: readonly ListedObject[]): Uint8Array {
  return encodeUtf8(HEAD + objects.map(({ kind, artifact }) => `${kind} ${artifact}\n`).join(""));
}

/** Reads what {@link formatListing} wrote; null if it is something else. */
export function parseListing(content: Uint8Array): ListedObject[] | null {
  if (decodeUtf8(content.subarray(0, HEAD.length)) !== HEAD) return null;
  const objects: ListedObject[] = [];
  for (const line of decodeUtf8(content.subarray(HEAD.length)).split("\n").slice(0, -1)) {
    const [, kind, artifact] = LINE.exec(line) ?? [];
    if (artifact === undefined) return null;
    objects.push({ kind: kind as ObjectKind, artifact });
  }
  return objects.length === 0 ? null : objects;
}
