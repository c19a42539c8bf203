/** What the content store takes and gives. */
import type { Sha3 } from "../codec/mod.ts";

/** Who gives new content, for `rcvfrom`. */
export interface Origin {
  readonly user: string | null;
  readonly ip: string | null;
}

/** Options of `ContentStore`. */
export interface StoreOptions {
  /** Bytes of artifacts kept in memory. */
  readonly cacheBytes?: number;
  /** Bytes of new artifacts that wait in memory to be packed. */
  readonly unpackedBytes?: number;
  /** Largest artifact that is read or written, in bytes. */
  readonly maxArtifactBytes?: number;
  /** A quicker SHA3-256 than the runtime's own, where one was loaded. */
  readonly sha3?: Sha3;
  /**
   * The file is a draft, to be copied by `copyDraft`: what is written is neither compressed, for most
   * of it becomes a delta yet, nor read back, for whoever copies it verifies everything at once.
   */
  readonly isDraft?: boolean;
}

/** An artifact, and what its row says of it. */
export interface StoredArtifact {
  readonly hash: string;
  /** What the row says; the bytes may have another length. */
  readonly size: number;
  readonly content: Uint8Array;
}

/** How content is put. */
export interface PutOptions {
  /** The name the content must have; checked. Computed by the hash policy where absent. */
  readonly hash?: string;
  readonly isPrivate?: boolean;
}

/** What became of content that was put. */
export interface PutResult {
  readonly rid: number;
  /** The repository did not have these bytes before. */
  readonly isNew: boolean;
  /** The name was known: other artifacts may have waited for the bytes. */
  readonly wasAwaited: boolean;
}
