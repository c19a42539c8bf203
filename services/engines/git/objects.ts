/**
 * Git's objects: their names, and the form of trees.
 *
 * @see {@link https://git-scm.com/book/en/v2/Git-Internals-Git-Objects}
 */
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { GitError } from "./error.ts";

/** The kinds of objects, in the order of their numbers in a pack, which begin with 1. */
export const OBJECT_KINDS = ["commit", "tree", "blob", "tag"] as const;

export type ObjectKind = (typeof OBJECT_KINDS)[number];

/** Bytes of a name. */
export const NAME_BYTES = 20;

/** The name of an object, in bytes. */
export function nameOfObject(kind: ObjectKind, content: Uint8Array): Uint8Array<ArrayBuffer> {
  const hash = createHash("sha1").update(`${kind} ${content.length}\0`).update(content);
  return new Uint8Array(hash.digest());
}

/** A name as people write it, in 40 hexadecimal digits. */
export function hexOf(name: Uint8Array): string {
  return Buffer.from(name.buffer, name.byteOffset, name.length).toString("hex");
}

/** The bytes of a name in 40 hexadecimal digits. */
export function bytesOfName(hex: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(hex, "hex"));
}

/** Whether a text is the name of an object in full, in lower case. */
export function isObjectName(text: string): boolean {
  return /^[0-9a-f]{40}$/.test(text);
}

/** Modes of a tree's entries. Old programs wrote others for files. */
export const MODE = {
  folder: 0o40000,
  file: 0o100644,
  executable: 0o100755,
  link: 0o120000,
  submodule: 0o160000,
} as const;

/** An entry of a tree. */
export interface TreeEntry {
  /** Bytes as `latin1`: one character each, for names need not be UTF-8. */
  readonly name: string;
  readonly mode: number;
  /** Zeros before the mode, which old programs wrote; absent for none. */
  readonly zeros?: number;
  /** The name of the object, in bytes. */
  readonly object: Uint8Array;
}

/** The order of entries: that of their names' bytes, where a folder's ends with a slash. */
export function compareEntries(left: TreeEntry, right: TreeEntry): number {
  const [one, other] = [sortKey(left), sortKey(right)];
  return one < other ? -1 : one > other ? 1 : 0;
}

function sortKey({ name, mode }: TreeEntry): string {
  return mode === MODE.folder ? `${name}/` : name;
}

/** The mode of an entry in its digits. */
export function formatMode({ mode, zeros = 0 }: Pick<TreeEntry, "mode" | "zeros">): string {
  return "0".repeat(zeros) + mode.toString(8);
}

/** Reads what {@link formatMode} wrote. */
export function parseMode(digits: string): Pick<TreeEntry, "mode" | "zeros"> {
  const mode = Number.parseInt(digits, 8);
  const zeros = digits.length - mode.toString(8).length;
  return zeros === 0 ? { mode } : { mode, zeros };
}

/** The bytes of a tree. Its entries are in order. */
export function formatTree(entries: readonly TreeEntry[]): Uint8Array<ArrayBuffer> {
  const heads = entries.map((entry) => `${formatMode(entry)} ${entry.name}\0`);
  const length = heads.reduce((sum, head) => sum + head.length + NAME_BYTES, 0);
  const tree = new Uint8Array(length);
  let at = 0;
  for (let place = 0; place < heads.length; place++) {
    const head = heads[place]!;
    // The runtime takes ten times as long to write a short text.
    for (let next = 0; next < head.length; next++) tree[at++] = head.charCodeAt(next);
    tree.set(entries[place]!.object, at);
    at += NAME_BYTES;
  }
  return tree;
}

/**
 * Reads a tree. The order of its entries is not checked.
 *
 * @throws {GitError} if it is malformed
 */
export function parseTree(content: Uint8Array): TreeEntry[] {
  const buffer = Buffer.from(content.buffer, content.byteOffset, content.length);
  const entries: TreeEntry[] = [];
  for (let at = 0; at < buffer.length;) {
    const space = buffer.indexOf(0x20, at);
    const end = space < 0 ? -1 : buffer.indexOf(0, space);
    const digits = space < 0 ? "" : buffer.toString("latin1", at, space);
    const isWhole = end > space + 1 && end + NAME_BYTES < buffer.length;
    if (!isWhole || !/^[0-7]{1,7}$/.test(digits)) throw new GitError("A tree is malformed");
    at = end + 1 + NAME_BYTES;
    entries.push({
      name: buffer.toString("latin1", space + 1, end),
      ...parseMode(digits),
      object: content.subarray(end + 1, at),
    });
  }
  return entries;
}
