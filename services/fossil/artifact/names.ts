/** Rules for names in artifacts. */
import { encodeUtf8, isHex } from "../codec/mod.ts";

/** Longest wiki title in bytes. */
export const MAX_TITLE_BYTES = 100;

const SEGMENT_TO_AVOID = /(^|\/)\.{0,2}(\/|$)/;
const RESERVED_NAME = /^(?:.*\/)?(?:_fossil_|\.fslckout)(?:-(?:wal|shm|journal))?$/i;
const RESERVED_SUFFIX = /(?:_fossil_|\.fslckout)-(?:wal|shm|journal)$/i;

/** Whether text can be the path of a file: relative, no empty, `.` or `..` segment. */
export function isFileName(name: string): boolean {
  return name !== "" && !SEGMENT_TO_AVOID.test(name) && !name.includes("\0");
}

/** Whether a checkout uses a path for itself; such F cards are ignored. */
export function isReservedFileName(name: string): boolean {
  return RESERVED_NAME.test(name) || RESERVED_SUFFIX.test(name);
}

/** Whether text can name a wiki page. */
export function isWikiTitle(title: string): boolean {
  if (title === "" || /^ | $| {2}/.test(title)) return false;
  for (const character of title) {
    if (character < " ") return false;
  }
  return encodeUtf8(title).length <= MAX_TITLE_BYTES;
}

/** Whether text can name a tag: it must not look like the prefix of a hash. */
export function isTagName(name: string): boolean {
  return !isHex(name);
}
