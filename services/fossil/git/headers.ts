/**
 * Data of a Git commit or tag that its Fossil counterpart cannot hold. It is the value of a
 * property, in the form of the Git object: lines "author …", "committer …" or "tagger …", then an
 * empty line and the message, unless the message is the comment and one line end.
 */

/** Property of a check-in. */
export const COMMIT_PROPERTY = "git-commit";
/** Property of a check-in for each annotated tag on it; the tag's name follows. */
export const TAG_PROPERTY = "git-tag-";
/** Property of a check-in: references other than tags that point there, separated by spaces. */
export const REFS_PROPERTY = "git-refs";

/** Lines and message; absent if Fossil holds them. */
export interface Headers {
  readonly author?: string;
  readonly committer?: string;
  readonly tagger?: string;
  readonly message?: string;
}

const NAMES = ["author", "committer", "tagger"] as const;

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
  const comment = text.replace(/(?<!\n)\n+$/, "");
  if (comment.trim() === "") return { comment: "(no comment)", message: text };
  return text === `${comment}\n` ? { comment } : { comment, message: text };
}
