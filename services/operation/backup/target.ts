import { createHash } from "node:crypto";
import type { Manifest, StoredFile } from "./manifest.ts";
import { BackupError } from "./names.ts";

/** A file that a backup writes. */
export interface NewFile {
  readonly name: string;
  readonly bytes: number;
  /** See `StoredFile`. */
  readonly state: string | null;
  /** The content; a piece is valid until the next one is taken. */
  readonly pieces: Iterable<Uint8Array<ArrayBuffer>>;
}

/** Where a backup goes. */
export interface BackupTarget {
  /** What it holds of a file already, if the file is in the same state; empty if nothing. */
  known(name: string, state: string | null): readonly StoredFile[];
  /** Begins. */
  begin(header: Pick<Manifest, "format" | "muster">): Promise<void>;
  write(file: NewFile): Promise<StoredFile>;
  /** Completes the backup: only now does it exist. */
  finish(manifest: Manifest): Promise<void>;
  /** Removes what an unfinished backup has written. */
  abort(): Promise<void>;
}

/** Gives the pieces to `take` and returns the SHA-256 of all, in hexadecimal digits. */
export async function hashing(
  pieces: Iterable<Uint8Array<ArrayBuffer>>,
  take: (piece: Uint8Array<ArrayBuffer>) => Promise<void>,
): Promise<string> {
  const hash = createHash("sha256");
  for (const piece of pieces) {
    hash.update(piece);
    await take(piece);
  }
  return hash.digest("hex");
}

/** Writes all of a piece to a file. */
export async function writeAll(file: Deno.FsFile, piece: Uint8Array): Promise<void> {
  for (let written = 0; written < piece.length;) {
    written += await file.write(piece.subarray(written));
  }
}

/** Explains an error of the disk that a backup is written to, or a restored folder. */
export function explainDisk(error: unknown, path: string): unknown {
  if (!(error instanceof Error) || error instanceof BackupError) return error;
  if (/os error 28|os error 122|ENOSPC|EDQUOT|No space left/.test(error.message)) {
    return new BackupError(
      `The disk is full: "${path}" cannot be written. Make room, or name another disk`,
    );
  }
  const isDisk = error instanceof Deno.errors.NotFound ||
    error instanceof Deno.errors.PermissionDenied || /os error/.test(error.message);
  return isDisk ? new BackupError(`"${path}" cannot be written: ${error.message}`) : error;
}
