/** Pointers of Git LFS (docs/spec.md of git-lfs): small files that stand for content elsewhere. */

/** What a pointer says of the content that it stands for. */
export interface LfsPointer {
  /** The content's SHA-256, in hexadecimal. */
  readonly oid: string;
  /** Bytes. */
  readonly size: number;
}

/** What the names of the unversioned files with such content begin with. */
export const LFS_FOLDER = "lfs/";

/** The name of the unversioned file with the content of a pointer. */
export function lfsFileOf(oid: string): string {
  return LFS_FOLDER + oid;
}

/** The SHA-256 of which an unversioned file is named; null if it is none with such content. */
export function lfsOidOf(name: string): string | null {
  const oid = name.slice(LFS_FOLDER.length);
  return name.startsWith(LFS_FOLDER) && /^[0-9a-f]{64}$/.test(oid) ? oid : null;
}

/** Longest pointer, in bytes. */
const MAX_BYTES = 200;

/** A file with anything else in it is no pointer: nothing hides behind one. */
const POINTER =
  /^version https:\/\/git-lfs\.github\.com\/spec\/v1\noid sha256:([0-9a-f]{64})\nsize (\d{1,15})\n$/;

/** The pointer that a file is; null if it is none. */
export function lfsPointerOf(content: Uint8Array): LfsPointer | null {
  if (content.length > MAX_BYTES) return null;
  const [, oid, size] = POINTER.exec(new TextDecoder().decode(content)) ?? [];
  return oid === undefined ? null : { oid, size: Number(size) };
}
