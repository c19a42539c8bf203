/** Archives, `.tar.gz`: unpacked and packed so that nothing leaves its folder. */
import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { create, Unpack } from "tar";
import { insideOf, openInside } from "./inside.ts";
import { PathPattern } from "./patterns.ts";

/** Most files and folders of an archive. */
const MAX_ENTRIES = 500_000;

/** An archive holds more than it may. */
export class ArchiveTooLarge extends Error {
  override readonly name = "ArchiveTooLarge";
}

export interface UnpackOptions {
  readonly folder: string;
  /** How many folders at the beginning of each path are left out. */
  readonly strip: number;
  /** Most bytes of all files together. */
  readonly maxBytes: number;
  /** Only what fits one of these, if there are any. */
  readonly only?: readonly string[];
}

/**
 * Unpacks an archive into a folder. Paths that lead out of it, devices and the like are left out.
 *
 * @returns how many entries were left out
 * @throws {ArchiveTooLarge} It holds more than it may.
 */
export async function unpack(
  archive: ReadableStream<Uint8Array>,
  { folder, strip, maxBytes, only }: UnpackOptions,
): Promise<number> {
  const patterns = only?.map((path) => new PathPattern(path));
  let bytes = 0;
  let entries = 0;
  let leftOut = 0;
  let tooLarge: ArchiveTooLarge | null = null;
  const unpacking = new Unpack({
    cwd: folder,
    strip,
    processUmask: 0o022,
    preserveOwner: false,
    onwarn: () => void leftOut++,
    filter(path, entry) {
      if (tooLarge !== null) return false;
      bytes += "size" in entry ? entry.size : 0;
      if (bytes > maxBytes) {
        tooLarge = new ArchiveTooLarge(`holds more than ${Math.round(maxBytes / 1024 / 1024)} MB`);
      } else if (++entries > MAX_ENTRIES) {
        tooLarge = new ArchiveTooLarge(`holds more than ${MAX_ENTRIES} files`);
      }
      if (tooLarge !== null) {
        unpacking.abort(tooLarge);
        return false;
      }
      return patterns === undefined || patterns.some((one) => one.matches(withoutSlash(path)));
    },
  });
  try {
    await pipeline(Readable.fromWeb(archive as never), unpacking);
  } catch (error) {
    throw tooLarge ?? error;
  }
  if (tooLarge !== null) throw tooLarge;
  return leftOut;
}

function withoutSlash(path: string): string {
  return path.replace(/^\.\//, "").replace(/\/$/, "");
}

/**
 * Packs those of the paths that are there, without following links.
 *
 * @param file where the archive is written
 * @returns whether there was anything to pack
 */
export async function pack(
  folder: string,
  paths: readonly string[],
  file: string,
): Promise<boolean> {
  const there = await Promise.all(paths.map(async (path) => {
    const clean = path.replace(/\/$/, "");
    return await insideOf(folder, clean) === null ? [] : [clean];
  }));
  const kept = there.flat();
  if (kept.length === 0) return false;
  // A name that begins with @ would be read as an archive.
  const names = kept.map((path) => `./${path}`);
  await create({ gzip: { level: 3 }, file, cwd: folder, portable: true, follow: false }, names);
  return true;
}

/** The SHA-256 of files below a folder, in hexadecimal digits; those that are not there are left out. */
export async function hashesOf(
  folder: string,
  paths: readonly string[],
): Promise<Map<string, string>> {
  const hashes = new Map<string, string>();
  for (const path of paths) {
    const file = await openInside(folder, path);
    if (file === null) continue;
    const hash = createHash("sha256");
    for await (const chunk of file.readable) hash.update(chunk);
    hashes.set(path, hash.digest("hex"));
  }
  return hashes;
}
