/** What objects must be like, as `git fsck` says. */
import {
  bytesOfName,
  compareEntries,
  GitError,
  MODE,
  type ObjectKind,
  parseTree,
  type TreeEntry,
} from "../../git/mod.ts";
import { isGitFolder, isGitModules } from "../artifact/mod.ts";
import { decodeText } from "./stream/mod.ts";
import { textOf } from "./door/trees.ts";
import type { Oddities } from "./oddities.ts";

const MODES: ReadonlySet<number> = new Set([MODE.folder, MODE.link, MODE.submodule]);
/** Modes of files: old programs wrote other bits. */
const isFileMode = (mode: number) => mode >> 9 === MODE.file >> 9;

/**
 * Checks an object.
 *
 * @param object.hex its name
 * @param oddities gets what is odd, and allowed
 * @throws {GitError} with what is wrong, as the rest of a sentence
 */
export function checkObject(
  { kind, hex, content }: {
    readonly kind: ObjectKind;
    readonly hex: string;
    readonly content: Uint8Array;
  },
  oddities: Oddities,
): void {
  if (kind === "tree") oddities.lookAtTree(checkTree(content));
  else if (kind === "commit") oddities.lookAtCommit(hex, parseCommit(content).people);
  else if (kind === "tag") parseTag(content);
}

function checkTree(content: Uint8Array): readonly TreeEntry[] {
  const entries = parseTree(content);
  const names = new Set<string>();
  let before: TreeEntry | null = null;
  for (const entry of entries) {
    const { name, mode } = entry;
    const fault = MODES.has(mode) || isFileMode(mode)
      ? faultOfName(name, mode)
      : "has an unknown mode";
    if (fault !== null) {
      throw new GitError(`has an entry ${JSON.stringify(textOf(name))} that ${fault}`);
    }
    if (names.has(name)) throw new GitError(`has two entries ${JSON.stringify(textOf(name))}`);
    names.add(name);
    if (before !== null && compareEntries(before, entry) > 0) {
      throw new GitError("has entries that are not in order");
    }
    before = entry;
  }
  return entries;
}

function faultOfName(name: string, mode: number): string | null {
  const text = textOf(name);
  if (name === "" || name === "." || name === ".." || name.includes("/")) return "is no name";
  if (isGitFolder(text)) return "Git takes for its own";
  return mode === MODE.link && isGitModules(text) ? "must not be a link" : null;
}

/** A commit as bytes and names. */
export interface ParsedCommit {
  readonly tree: Uint8Array;
  readonly parents: readonly Uint8Array[];
  /** What follows the parents. */
  readonly tail: Uint8Array;
  /** The lines of the author and the committer, a character for each byte. */
  readonly people: readonly [author: string, committer: string];
}

const LINE = /^(tree|parent) ([0-9a-f]{40})\n/;

/**
 * Reads a commit.
 *
 * @throws {GitError} with what is wrong, as the rest of a sentence
 */
export function parseCommit(content: Uint8Array): ParsedCommit {
  let at = 0;
  let tree: Uint8Array | null = null;
  const parents: Uint8Array[] = [];
  const decoder = new TextDecoder("latin1");
  for (;;) {
    const [line, what, name] = LINE.exec(decoder.decode(content.subarray(at, at + 48))) ?? [];
    if (line === undefined || (what === "tree") !== (tree === null)) break;
    if (what === "tree") tree = bytesOfName(name!);
    else parents.push(bytesOfName(name!));
    at += line.length;
  }
  if (tree === null) throw new GitError("has no tree");
  const tail = content.subarray(at);
  const head = decoder.decode(tail.subarray(0, headLength(tail)));
  if (head.includes("\0")) throw new GitError("has a zero byte among its headers");
  const [, author, committer] = /^author (.*)\ncommitter (.*)\n/.exec(head) ?? [];
  if (author === undefined || committer === undefined) {
    throw new GitError("has no author or no committer");
  }
  return { tree, parents, tail, people: [author, committer] };
}

/** Bytes of the headers of a commit or tag. */
function headLength(content: Uint8Array): number {
  const end = new TextDecoder("latin1").decode(content).indexOf("\n\n");
  return end < 0 ? content.length : end + 1;
}

/** A tag as its lines. */
export interface ParsedTag {
  readonly object: Uint8Array;
  readonly type: ObjectKind;
  readonly name: string;
  /** The line without its first word; null if there is none. */
  readonly tagger: string | null;
  /** Further headers, with their line ends. */
  readonly further: string;
  readonly message: string;
}

/**
 * Reads an annotated tag.
 *
 * @throws {GitError} with what is wrong, as the rest of a sentence
 */
export function parseTag(content: Uint8Array): ParsedTag {
  const text = decodeText(content);
  const [head, object, type, name, tagger, further = ""] =
    /^object ([0-9a-f]{40})\ntype (commit|tree|blob|tag)\ntag ([^\n]+)\n(?:tagger ([^\n]*)\n)?((?:[^\n]+\n)*)(?=\n|$)/
      .exec(text) ?? [];
  if (head === undefined) throw new GitError("has not the form of a tag");
  return {
    object: bytesOfName(object!),
    type: type as ObjectKind,
    name: name!,
    tagger: tagger ?? null,
    further,
    message: text.slice(head.length + 1),
  };
}
