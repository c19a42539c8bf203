/** Types of the content store. */
import type { Sha3 } from "../codec/mod.ts";

/** The origin of new content, for `rcvfrom`. */
export interface Origin {
  readonly user: string | null;
  readonly ip: string | null;
  /** A text that is kept with the row, unlike that of every other row; none if absent. */
  readonly mark?: string;
}

/** Options of `ContentStore`. */
export interface StoreOptions {
  /** Bytes of artifacts kept in memory. */
  readonly cacheBytes?: number;
  /** Most bytes of new artifacts in memory before they are packed. */
  readonly unpackedBytes?: number;
  /** Largest artifact that is read or written, in bytes. */
  readonly maxArtifactBytes?: number;
  /** A quicker SHA3-256 than the runtime's own, if one was loaded. */
  readonly sha3?: Sha3;
  /**
   * The file is a draft for `copyDraft`. Writes are not compressed, because most become deltas
   * later, and not read back, because the copy verifies everything.
   */
  readonly isDraft?: boolean;
}

/** An artifact, with hash and size from its row. */
export interface StoredArtifact {
  readonly hash: string;
  /** From the row; the bytes may have another length. */
  readonly size: number;
  readonly content: Uint8Array;
}

/** How to store content. */
export interface PutOptions {
  /** The expected name, which is checked. If absent, the hash policy decides. */
  readonly hash?: string;
  readonly isPrivate?: boolean;
}

/** Result of storing content. */
export interface PutResult {
  readonly rid: number;
  /** The repository did not have these bytes before. */
  readonly isNew: boolean;
  /** The name was known: other artifacts may have waited for the bytes. */
  readonly wasAwaited: boolean;
}
