import { isUtf8 } from "node:buffer";
import { fileOf, normalizePath } from "./manifests.ts";
import type { Reader } from "./reader.ts";
import { resolveCheckin } from "./resolve.ts";
import type { FileContent } from "./shapes.ts";

/** One file at one check-in. */
export interface PathOptions {
  readonly path: string;
  /** Any name; absent for the tip of trunk. */
  readonly checkin?: string;
}

/**
 * A file's bytes at a check-in. They are shared with a cache: do not write to them.
 *
 * @throws {FossilError} `missing` if there is no such file, check-in or content; `ambiguous`.
 */
export function readFile(reader: Reader, options: PathOptions): FileContent {
  return reader.read(() => {
    const { repository } = reader;
    const { rid, uuid: checkin } = resolveCheckin(reader, options.checkin);
    const card = fileOf(reader, rid, normalizePath(options.path));
    const uuid = card.hash ?? "";
    const content = repository.store.require(repository.ridOf(uuid));
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
