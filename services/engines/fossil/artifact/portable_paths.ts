/**
 * Paths that harm a checkout or an unpacked archive on some system: those that a system cannot
 * store, stores under another name, or takes for the data of another program.
 */
import { TextMap } from "../text/mod.ts";

/** Controls of the direction of text, which make a name look like another (Unicode TR 36). */
const BIDI_CONTROL = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
/** Characters that HFS+ ignores in names, as `git fsck` lists them. */
const IGNORED_BY_HFS = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;
const CONTROL = /\p{Cc}/u;
/** Characters that Windows keeps for itself. */
const WINDOWS_RESERVED = /[<>:"|?*]/;
/** Names of devices on Windows, with any extension. */
const WINDOWS_DEVICE =
  /^(?:con|prn|aux|nul|com[0-9\xb9\xb2\xb3]|lpt[0-9\xb9\xb2\xb3]|conin\$|conout\$) *(?:\.|$)/i;
const DRIVE = /^[A-Za-z]:/;
/** Longest segment of a path in bytes, on common file systems. */
const MAX_SEGMENT_BYTES = 255;

const encoder = new TextEncoder();

/**
 * Why new check-ins may not add a file of this path; null if they may.
 *
 * @param path the path of a file as `isFileName` accepts it
 * @returns the reason, which follows the name: "has a backslash"
 */
export function pathFault(path: string): string | null {
  if (path.includes("\\")) return "has a backslash in its name";
  if (CONTROL.test(path)) return "has a control character in its name";
  if (BIDI_CONTROL.test(path)) return "has a character in its name that reverses text";
  if (WINDOWS_RESERVED.test(path)) {
    return 'has a character in its name that Windows cannot store: < > : " | ? *';
  }
  for (const segment of path.split("/")) {
    const fault = segmentFault(segment);
    if (fault !== null) return fault;
  }
  return null;
}

function segmentFault(segment: string): string | null {
  if (isGitFolder(segment)) {
    return `has a part in its path that Git takes for its own: "${segment}"`;
  }
  if (/[. ]$/.test(segment)) return `has a part in its path that ends with a dot or a space`;
  if (WINDOWS_DEVICE.test(segment)) return `has the name of a device on Windows: "${segment}"`;
  if (encoder.encode(segment).length > MAX_SEGMENT_BYTES) {
    return `has a part in its path of more than ${MAX_SEGMENT_BYTES} bytes`;
  }
  return null;
}

/**
 * Whether unpacking a file of this path can write where it should not: into a folder of Git, or
 * outside of the archive's folder.
 */
export function isHarmfulPath(path: string): boolean {
  return path.includes("\\") || CONTROL.test(path) || DRIVE.test(path) ||
    path.split("/").some((segment) => segment === ".." || isGitFolder(segment));
}

/**
 * Whether Git or one of the file systems that it knows takes a segment of a path, or a part of it that
 * Windows takes for a segment, for `.git`.
 */
export function isGitFolder(segment: string): boolean {
  const visible = segment.replace(IGNORED_BY_HFS, "").normalize("NFC").toLowerCase();
  return /(?:^|\\)(?:\.git|git~1)[. ]*(?:$|[:\\])/.test(visible);
}

/** Whether Git or one of those file systems takes a segment of a path for `.gitmodules`. */
export function isGitModules(segment: string): boolean {
  const visible = segment.replace(IGNORED_BY_HFS, "").normalize("NFC").toLowerCase();
  return /(?:^|\\)(?:\.gitmodules|gitmod~[1-4]|gi7eb[0-9a-f]*~[0-9]+)[. ]*(?:$|[:\\])/.test(
    visible,
  );
}

/** What keeps Windows from having a file of a name, as the rest of a sentence; null if it can. */
export function windowsFault(segment: string): string | null {
  if (WINDOWS_DEVICE.test(segment)) return "is the name of a device on Windows";
  if (/[. ]$/.test(segment)) return "ends with a dot or a space, which Windows leaves out";
  return WINDOWS_RESERVED.test(segment) || segment.includes("\\") || CONTROL.test(segment)
    ? "has a character that no file has on Windows"
    : null;
}

/** The form in which file systems that ignore case compare names. */
export function foldPath(path: string): string {
  return path.normalize("NFC").toLowerCase();
}

/**
 * The first new path that a file system which ignores case cannot tell from another path of the
 * tree, and that other one; null if there is none.
 *
 * @param paths every path of the tree
 * @param added those of them that are new
 */
export function caseCollision(
  paths: Iterable<string>,
  added: readonly string[],
): { readonly path: string; readonly other: string } | null {
  const files = new TextMap<string>();
  const folders = new TextMap<string>();
  for (const path of added) {
    const folded = foldPath(path);
    const other = files.get(folded);
    if (other !== undefined && other !== path) return { path, other };
    files.set(folded, path);
    for (const end of folderEnds(folded)) folders.set(folded.slice(0, end), path);
  }
  if (files.size === 0) return null;
  for (const other of paths) {
    const folded = foldPath(other);
    const path = files.get(folded) ?? folders.get(folded);
    if (path !== undefined && path !== other) return { path, other };
    for (const end of folderEnds(folded)) {
      const file = files.get(folded.slice(0, end));
      if (file !== undefined) return { path: file, other };
    }
  }
  return null;
}

/** The ends of the folders in a path, the longest first. */
function* folderEnds(path: string): Generator<number> {
  for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) yield end;
}
