import { isUtf8 } from "node:buffer";
import { FossilError } from "../error.ts";
import { fileOf, normalizePath } from "./manifests.ts";
import type { Reader } from "./reader.ts";
import { resolveCheckin } from "./resolve.ts";
import type { FileContent } from "./shapes.ts";

/** One file at one check-in. */
export interface PathOptions {
  readonly path: string;
  /** Any name; absent for the tip of the main branch. */
  readonly checkin?: string;
}

/** Which file to read, and how much of it at most. */
export interface FileOptions extends PathOptions {
  /** A larger file is refused before its content is read. */
  readonly maxBytes?: number;
}

/**
 * A file's bytes at a check-in. They are shared with a cache: do not write to them.
 *
 * @throws {FossilError} `missing` if there is no such file, check-in or content; `ambiguous`;
 * `limit` if the file is larger than `maxBytes`.
 */
export function readFile(reader: Reader, options: FileOptions): FileContent {
  return reader.read(() => {
    const { repository } = reader;
    const { rid, uuid: checkin } = resolveCheckin(reader, options.checkin);
    const card = fileOf(reader, rid, normalizePath(options.path));
    const uuid = card.hash ?? "";
    const fileRid = repository.ridOf(uuid);
    const size = repository.store.sizeOf(fileRid);
    if (size > (options.maxBytes ?? Infinity)) {
      throw new FossilError("limit", `"${card.name}" has ${size} bytes`);
    }
    const content = repository.store.require(fileRid);
    return {
      checkin,
      path: card.name,
      uuid,
      type: card.mode === "link" ? "link" : "file",
      executable: card.mode === "executable",
      is_binary: isBinary(content),
      content,
    };
  });
}

/** Whether bytes are binary: they contain a NUL, or are not UTF-8. */
export function isBinary(content: Uint8Array): boolean {
  return content.includes(0) || !isUtf8(content);
}
