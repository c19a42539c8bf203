import { Buffer } from "node:buffer";
import { Invalid, TooLarge } from "../errors.ts";
import { encodeUtf8 } from "../fossil/front/mod.ts";
import type { FileChange } from "../fossil/mod.ts";

/** Most changes of one commit. */
export const MAX_CHANGES = 1000;

/** Total size of the files of one commit, in bytes; the request's body is bounded as well. */
export const MAX_COMMIT_BYTES = 16 * 1024 * 1024;

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** A change of a file in a request. */
export interface RequestedChange {
  readonly path: string;
  readonly content?: string | undefined;
  readonly content_base64?: string | undefined;
  readonly delete?: boolean | undefined;
  readonly rename_to?: string | undefined;
  readonly executable?: boolean | undefined;
}

/**
 * Turns the changes of a request into the engine's, which checks their paths and contents.
 *
 * @throws Invalid if a change is incomplete or contradicts itself; TooLarge
 */
export function fileChangesOf(changes: readonly RequestedChange[]): FileChange[] {
  let bytes = 0;
  return changes.map((change) => {
    const file = fileChangeOf(change);
    if ("content" in file) bytes += file.content?.length ?? 0;
    if (bytes > MAX_COMMIT_BYTES) {
      throw new TooLarge(
        `The files of a commit must not exceed ${MAX_COMMIT_BYTES} bytes together`,
      );
    }
    return file;
  });
}

function fileChangeOf(change: RequestedChange): FileChange {
  const { path, rename_to, executable } = change;
  for (const name of [path, rename_to ?? ""]) {
    if (!name.isWellFormed()) throw new Invalid("A path is not valid Unicode");
  }
  const content = contentOf(change);
  const mode = executable === undefined
    ? {}
    : { mode: executable ? "executable" as const : "file" as const };
  if (change.delete === true) {
    if (content !== null || rename_to !== undefined || executable !== undefined) {
      throw new Invalid(`The change of "${path}" deletes the file and also changes it`);
    }
    return { kind: "delete", path };
  }
  if (rename_to !== undefined) {
    const more = content === null ? {} : { content };
    return { kind: "move", from: path, path: rename_to, ...more, ...mode };
  }
  if (content !== null) return { kind: "write", path, content, ...mode };
  if (mode.mode !== undefined) return { kind: "mode", path, mode: mode.mode };
  throw new Invalid(
    `The change of "${path}" needs "content", "content_base64", "delete", "rename_to" or ` +
      `"executable"`,
  );
}

function contentOf({ path, content, content_base64 }: RequestedChange): Uint8Array | null {
  if (content !== undefined && content_base64 !== undefined) {
    throw new Invalid(`The change of "${path}" has both "content" and "content_base64"`);
  }
  if (content !== undefined) {
    if (content.isWellFormed()) return encodeUtf8(content);
    throw new Invalid(`"content" of "${path}" is not valid Unicode: send "content_base64"`);
  }
  if (content_base64 === undefined) return null;
  if (content_base64.length % 4 !== 0 || !BASE64.test(content_base64)) {
    throw new Invalid(`"content_base64" of "${path}" is not base64`);
  }
  return new Uint8Array(Buffer.from(content_base64, "base64"));
}
