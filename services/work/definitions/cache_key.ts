/** `${hash:PATH}` in the key of a cache. */
const PART = /\$\{([^${}]*)\}/g;
const HASH = "hash:";

/**
 * What is wrong with a key, to be put after its name; null if nothing is.
 *
 * @param isBelow whether a path stays below the checkout
 */
export function cacheKeyFault(key: string, isBelow: (path: string) => boolean): string | null {
  for (const [whole, part = ""] of key.matchAll(PART)) {
    if (!part.startsWith(HASH)) {
      return `has ${whole}, which muster does not know: \${hash:FILE} is all`;
    }
    const path = part.slice(HASH.length);
    if (path === "" || !isBelow(path)) return `has ${whole}, which names no file of the checkout`;
  }
  return key.replaceAll(PART, "").includes("${") ? "has a ${ without its }" : null;
}

/** The files whose contents a key depends on. */
export function hashedFiles(key: string): string[] {
  return [...key.matchAll(PART)].map(([, part = ""]) => part.slice(HASH.length));
}

/**
 * The key with the hash of each file in the place of its `${hash:PATH}`.
 *
 * @param hashes by path; a file without one counts as absent
 */
export function keyOfCache(key: string, hashes: ReadonlyMap<string, string>): string {
  return key.replaceAll(PART, (_, part: string) => hashes.get(part.slice(HASH.length)) ?? "absent");
}
