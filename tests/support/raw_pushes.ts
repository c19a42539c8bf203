/** Pushes that no honest client sends, made of objects and packs by hand. */
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { deflateSync } from "node:zlib";
import {
  DeltaWriter,
  type EntryForm,
  formatTree,
  hexOf,
  markPacket,
  nameOfObject,
  type ObjectKind,
  PackWriter,
  textPacket,
  type TreeEntry,
} from "../../services/engines/git/mod.ts";
import type { GitTest } from "./git_door.ts";

const NO_OBJECT = "0".repeat(40);

/** An object, or a delta, as an entry of a pack. */
export interface RawEntry {
  readonly form: EntryForm;
  readonly content: Uint8Array;
  /** The size that it declares, if that is a lie. */
  readonly size?: number;
}

/** An object with its name. */
export interface RawObject extends RawEntry {
  readonly name: Uint8Array<ArrayBuffer>;
  readonly hex: string;
}

/** An object of any bytes. */
export function rawObject(kind: ObjectKind, content: Uint8Array): RawObject {
  const name = nameOfObject(kind, content);
  return { form: { kind }, content, name, hex: hexOf(name) };
}

export const rawBlob = (text: string | Uint8Array) =>
  rawObject("blob", typeof text === "string" ? Buffer.from(text) : text);

/**
 * A tree with its entries in the order in which they are given.
 *
 * @param zeros before each mode
 */
export function rawTree(
  entries: readonly (readonly [name: string, mode: number, RawObject])[],
  zeros = 0,
) {
  return rawObject(
    "tree",
    formatTree(
      entries.map(([name, mode, { name: object }]): TreeEntry => ({ name, mode, zeros, object })),
    ),
  );
}

/** @param made.tail what follows the parents, in place of an author and a message */
export function rawCommit(
  tree: RawObject | string,
  { parents = [], message = "x\n", tail }: {
    readonly parents?: readonly string[];
    readonly message?: string;
    readonly tail?: string | Uint8Array;
  } = {},
): RawObject {
  const lines = [
    `tree ${typeof tree === "string" ? tree : tree.hex}`,
    ...parents.map((parent) => `parent ${parent}`),
  ];
  const eve = "Eve <eve@example.org> 1700000000 +0000";
  const rest = tail ?? `author ${eve}\ncommitter ${eve}\n\n${message}`;
  return rawObject(
    "commit",
    Buffer.concat([Buffer.from(`${lines.join("\n")}\n`), Buffer.from(rest)]),
  );
}

/** @param tail what follows the name */
export function rawTag(of: RawObject, name: string, tail: string | Uint8Array): RawObject {
  const type = "kind" in of.form ? of.form.kind : "blob";
  const head = `object ${of.hex}\ntype ${type}\ntag ${name}\n`;
  return rawObject("tag", Buffer.concat([Buffer.from(head), Buffer.from(tail)]));
}

/** References with tags of everything, and all their objects. */
export function oddTags(): {
  readonly refs: Readonly<Record<string, RawObject>>;
  readonly objects: readonly RawObject[];
} {
  const [file, folder, module] = [0o100644, 0o40000, 0o160000];
  const [blob, alone, below] = ["1\n", "alone\n", "P x\n"].map(rawBlob);
  const tree = rawTree([["a", file, blob!]]);
  const inner = rawTree([["x", file, below!]], 1);
  const outer = rawTree([["a", file, blob!], ["d", folder, inner], ["e", folder, inner], [
    "f",
    folder,
    rawTree([]),
  ], ["m", module, blob!]]);
  const one = rawCommit(tree);
  const tail = "tagger A <a@b> 5 +0000\n\nx\n";
  const plain = rawTag(one, "plain", tail);
  const nested = rawTag(plain, "nested", tail);
  const more = rawTag(nested, "other-name", Buffer.from("\n\xff", "latin1"));
  const ofTree = rawTag(outer, "of-tree", tail);
  const ofBlob = rawTag(alone!, "of-blob", tail);
  const ofTagOfTree = rawTag(ofTree, "of-tag-of-tree", tail);
  const refs: Record<string, RawObject> = {
    "refs/heads/main": one,
    "refs/tags/plain": plain,
    "refs/tags/nested": nested,
    "refs/tags/more": more,
    "refs/tags/tree": outer,
    "refs/tags/known-tree": tree,
    "refs/tags/empty-tree": rawTree([]),
    "refs/tags/blob": alone!,
    "refs/tags/known-blob": blob!,
    "refs/tags/of-tree": ofTree,
    "refs/tags/of-blob": ofBlob,
    "refs/tags/of-tag-of-tree": ofTagOfTree,
    "refs/tags/main": ofBlob,
  };
  const objects = [blob!, alone!, below!, tree, inner, outer, rawTree([]), one];
  return { refs, objects: [...objects, plain, nested, more, ofTree, ofBlob, ofTagOfTree] };
}

/** A delta that inserts all of a content. */
export function insertingDelta(base: Uint8Array, result: Uint8Array): Uint8Array {
  const writer = new DeltaWriter({ base: base.length, result: result.length });
  writer.insert(result);
  return writer.finish();
}

/** A pack of entries. */
export function rawPack(entries: readonly RawEntry[], count = entries.length): Buffer {
  const pieces: Buffer[] = [];
  const writer = new PackWriter(count, (piece) => pieces.push(Buffer.from(piece)));
  for (const { form, content, size = content.length } of entries) {
    writer.entry(form, size, deflateSync(content));
  }
  writer.finish();
  return Buffer.concat(pieces);
}

/** Bytes with the checksum of a pack. */
export function sealed(bytes: Uint8Array): Buffer {
  return Buffer.concat([bytes, createHash("sha1").update(bytes).digest()]);
}

/** A reference of a push: what it was, what it becomes. */
export type RawCommand = readonly [ref: string, to: string | null, from?: string];

/** Sends a push; returns what the server says of it. */
export async function pushRaw(
  test: GitTest,
  commands: readonly RawCommand[],
  pack: Uint8Array,
  { capabilities = "report-status", who = "caller" }: {
    readonly capabilities?: string;
    readonly who?: "caller" | "other" | "outsider";
  } = {},
): Promise<string> {
  const lines = commands.map(([ref, to, from = NO_OBJECT], place) =>
    textPacket(`${from} ${to ?? NO_OBJECT} ${ref}${place === 0 ? `\0${capabilities}` : ""}\n`)
  );
  const body = Buffer.concat([...lines, markPacket("flush"), pack]);
  const url = new URL(test.urlOf(who));
  const authorization = `Basic ${btoa(`${url.username}:${url.password}`)}`;
  const response = await fetch(`${test.bareUrl}/git-receive-pack`, {
    method: "POST",
    headers: { authorization, "content-type": "application/x-git-receive-pack-request" },
    body,
  });
  return `${response.status} ${await response.text()}`;
}
