/**
 * Files that Fossil would take for artifacts of its own, and that would then act as such in every clone.
 * They are stored behind a line that Git does not see. A file that begins with this line gets it once
 * more, so that the content alone tells what Git has.
 */
import { parseArtifact } from "../artifact/mod.ts";
import { encodeUtf8, joinBytes } from "../codec/mod.ts";

const LINE = encodeUtf8(
  "# Fossil would take what follows for an artifact of its own. Git has this file without this line.\n",
);
/** The last card of an artifact; see `judge.ts`. */
const SEAL_BYTES = 35;
const SEAL = /^Z [0-9a-f]{32}\n$/;

/** What is stored of a file of Git. */
export function wrapped(content: Uint8Array): Uint8Array {
  const end = new TextDecoder("latin1").decode(content.subarray(-SEAL_BYTES));
  const isUnsafe = isWrapped(content) || SEAL.test(end) || parseArtifact(content) !== null;
  return isUnsafe ? joinBytes([LINE, content]) : content;
}

/** What Git has of a file that is stored. */
export function unwrapped(content: Uint8Array): Uint8Array {
  return isWrapped(content) ? content.subarray(LINE.length) : content;
}

function isWrapped(content: Uint8Array): boolean {
  return content.length >= LINE.length && LINE.every((byte, at) => byte === content[at]);
}
