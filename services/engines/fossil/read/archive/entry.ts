/** One file of an archive. */
export interface ArchiveFile {
  /** Path from the top of the archive, with "/". */
  readonly path: string;
  readonly mode: "file" | "executable" | "link";
  /** Bytes; the target of a link. */
  readonly content: Uint8Array;
}

/** Bits of the permissions that files of a mode have. */
export function permissionsOf(mode: ArchiveFile["mode"]): number {
  return mode === "file" ? 0o644 : mode === "executable" ? 0o755 : 0o777;
}
