/**
 * Data of a Git commit or tag that its Fossil counterpart cannot hold. It is the value of a
 * property, in the form of the Git object: lines "author …", "committer …" or "tagger …", then an
 * empty line and the message, unless the message is the comment and one line end. A tag that has
 * another name in Fossil also has the line "ref …".
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
  readonly message?: string;
}

const NAMES = ["ref", "author", "committer", "tagger"] as const;

/** The value of the property; empty if nothing needs to be kept. */
export function formatHeaders(headers: Headers): string {
  const lines = NAMES.flatMap((name) =>
    headers[name] === undefined ? [] : [`${name} ${headers[name]}\n`]
  );
  return lines.join("") + (headers.message === undefined ? "" : `\n${headers.message}`);
}

/** Reads the value of a property; ignores unknown parts. */
export function parseHeaders(text: string): Headers {
  const headers: { -readonly [K in keyof Headers]: Headers[K] } = {};
  for (let start = 0; start < text.length;) {
    if (text[start] === "\n") return { ...headers, message: text.slice(start + 1) };
    const feed = text.indexOf("\n", start);
    const end = feed < 0 ? text.length : feed;
    const line = text.slice(start, end);
    const name = NAMES.find((known) => line.startsWith(`${known} `));
    if (name !== undefined) headers[name] = line.slice(name.length + 1);
    start = end + 1;
  }
  return headers;
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
