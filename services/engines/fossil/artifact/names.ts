/** Rules for names in artifacts. */
import { isLine, isVisible } from "../../../kernel/words.ts";
import { encodeUtf8, isHex } from "../codec/mod.ts";

/** Longest path of a file that a commit or a push may add, in UTF-16 units. */
export const MAX_PATH = 1000;

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

/** Names of check-ins that Fossil resolves by itself. */
const KEYWORD = /^(?:tip|current|prev|previous|next|ckout)$/;
const DATE = /^\d{4}-\d\d-\d\d|^(?:\d{8}|\d{12}|\d{14})$/;
/** Fewest and most digits of a prefix of a hash. */
const HASH_DIGITS = { least: 4, most: 64 };

/**
 * Why a name for a branch or tag would stand for something else; null if it would not.
 *
 * @returns the reason, which follows the name: "may be the beginning of a hash"
 * @see {@link https://fossil-scm.org/home/doc/trunk/www/checkin_names.wiki}
 */
export function nameFault(name: string): string | null {
  if (KEYWORD.test(name)) return "names a check-in in another way";
  if (name.includes(":")) return "has a colon, which begins a date or another kind of name";
  if (DATE.test(name)) return "may be a date";
  const { length } = name;
  const isPrefix = length >= HASH_DIGITS.least && length <= HASH_DIGITS.most;
  if (isPrefix && isHex(name.toLowerCase())) return "may be the beginning of a hash";
  if (/[\p{Cc}\[\]]/u.test(name)) return "has a bracket or a control character";
  if (!isLine(name)) return "has an invisible character, or one that reverses text";
  if (name !== "" && !isVisible(name)) return "has no character that can be seen";
  return null;
}

/** Whether text can name a tag: it must not look like the prefix of a hash. */
export function isTagName(name: string): boolean {
  return !isHex(name);
}
