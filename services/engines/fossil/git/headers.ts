/**
 * Data of a Git commit or tag that its Fossil counterpart cannot hold. It is the value of a
 * property, in the form of the Git object: lines "author …", "committer …" or "tagger …", then all
 * further headers as Git has them, an empty line and the message, unless the message is the comment
 * and one line end. A tag that has another name in Fossil also has the line "ref …". Where Git's
 * bytes are not UTF-8, the line "rest …" names a file that holds the whole object behind its tree and
 * parents.
 */
import { formatPath, readPath } from "./stream/mod.ts";

/** Property of a check-in. */
export const COMMIT_PROPERTY = "git-commit";
/**
 * Property of a check-in for each tag on it that is annotated, or has another name in Git; the tag's
 * name in Fossil follows.
 */
export const TAG_PROPERTY = "git-tag-";
/** Property of a check-in: references other than tags that point there; see {@link formatRefs}. */
export const REFS_PROPERTY = "git-refs";

/** Lines and message; absent if Fossil holds them. */
export interface Headers {
  /** The reference in Git. */
  readonly ref?: string;
  readonly author?: string;
  readonly committer?: string;
  readonly tagger?: string;
  /** The artifact that has what follows the tree and the parents. */
  readonly rest?: string;
  /** Headers behind these, each with its continuations and line ends: signatures, encodings, … */
  readonly further?: string;
  readonly message?: string;
}

const NAMES = ["ref", "author", "committer", "tagger", "rest"] as const;

/** The value of the property; empty if nothing needs to be kept. */
export function formatHeaders(headers: Headers): string {
  const lines = NAMES.flatMap((name) =>
    headers[name] === undefined ? [] : [`${name} ${headers[name]}\n`]
  );
  const { further = "", message } = headers;
  return lines.join("") + further + (message === undefined ? "" : `\n${message}`);
}

/** Reads the value of a property. */
export function parseHeaders(text: string): Headers {
  const headers: { -readonly [K in keyof Headers]: Headers[K] } = {};
  let further = "";
  for (let start = 0; start < text.length;) {
    if (text[start] === "\n") {
      headers.message = text.slice(start + 1);
      break;
    }
    const feed = text.indexOf("\n", start);
    const end = feed < 0 ? text.length : feed;
    const line = text.slice(start, end);
    const name = further === "" ? NAMES.find((known) => line.startsWith(`${known} `)) : undefined;
    if (name === undefined) further += `${line}\n`;
    else headers[name] = line.slice(name.length + 1);
    start = end + 1;
  }
  return further === "" ? headers : { ...headers, further };
}

/** The comment of a check-in, and the message if it cannot be derived from the comment. */
export function splitMessage(message: string): { comment: string; message?: string } {
  const text = message.replaceAll("\0", "");
  const comment = withoutLastEnds(text);
  if (comment.trim() === "") return { comment: "(no comment)", message: text };
  return text === `${comment}\n` ? { comment } : { comment, message: text };
}

/** A text without the line ends at its end. */
export function withoutLastEnds(text: string): string {
  let end = text.length;
  while (text[end - 1] === "\n") end--;
  return text.slice(0, end);
}

/** References in one line; one that is not UTF-8 or has a space is in quotes, as paths are. */
export function formatRefs(refs: readonly string[]): string {
  return refs.map((ref) => formatPath(ref, true)).join(" ");
}

/** What a property says of references: where they are moved, or that they are deleted. */
export interface Moves {
  /** The moves of a reference count from 1; an import has 0. */
  readonly number: number;
  readonly isGone: boolean;
  readonly refs: readonly string[];
}

/** Reads the value of the property for references: a number, `-` for a deletion, and references. */
export function parseMoves(value: string): Moves {
  const [, digits = "0", gone, refs = ""] = /^(?:([0-9]{1,15}) (- )?)?(.*)$/s.exec(value) ?? [];
  return { number: Number(digits), isGone: gone !== undefined, refs: parseRefs(refs) };
}

/** The value of the property for some moves; see {@link parseMoves}. */
export function formatMoves({ number, isGone, refs }: Moves): string {
  return `${number} ${isGone ? "- " : ""}${formatRefs(refs)}`;
}

/** Reads what {@link formatRefs} wrote; ignores what is no reference. */
export function parseRefs(text: string): string[] {
  const refs: string[] = [];
  for (let rest = text; rest !== "";) {
    const read = readPath(rest, true);
    if (read === null) break;
    if (/^refs\/./.test(read.path)) refs.push(read.path);
    rest = read.rest;
  }
  return refs;
}
