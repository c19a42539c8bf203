/**
 * Filters of partial clones: which objects a client leaves out, to ask for them when it needs them.
 *
 * @see {@link https://git-scm.com/docs/git-rev-list#Documentation/git-rev-list.txt---filterltfilter-specgt}
 */
import { GitError } from "./error.ts";

/** What a client leaves out. */
export interface ObjectFilter {
  /** Blobs of this size and more, in bytes; 0 for all, infinite for none. */
  readonly blobBytes: number;
  /** Trees and blobs at this depth and more, where the root tree is at 0; infinite for none. */
  readonly treeDepth: number;
}

/** A filter that leaves out nothing. */
export const EVERYTHING: ObjectFilter = { blobBytes: Infinity, treeDepth: Infinity };

const UNITS: Readonly<Record<string, number>> = { "": 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30 };

/**
 * Reads a filter.
 *
 * @throws {GitError} it is malformed, or of a kind that is not supported
 */
export function parseFilter(text: string): ObjectFilter {
  if (text === "blob:none") return { ...EVERYTHING, blobBytes: 0 };
  const limit = /^blob:limit=([0-9]{1,12})([kmg]?)$/.exec(text);
  if (limit !== null) {
    return { ...EVERYTHING, blobBytes: Number(limit[1]) * UNITS[limit[2] ?? ""]! };
  }
  const depth = /^tree:([0-9]{1,6})$/.exec(text);
  if (depth !== null) return { ...EVERYTHING, treeDepth: Number(depth[1]) };
  const combined = /^combine:(.+)$/.exec(text)?.[1];
  if (combined === undefined || combined.includes("combine")) {
    throw new GitError(`This server has no filter "${text.slice(0, 100)}"`);
  }
  return combined.split("+").map((part) => parseFilter(unescaped(part))).reduce(both);
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new GitError("A filter is malformed");
  }
}

function both(one: ObjectFilter, other: ObjectFilter): ObjectFilter {
  return {
    blobBytes: Math.min(one.blobBytes, other.blobBytes),
    treeDepth: Math.min(one.treeDepth, other.treeDepth),
  };
}
