/**
 * The cards of the sync protocol, as a client and a server send them. A message is a list of cards:
 * a line of tokens each, followed by content where the line declares its length.
 *
 * @see {@link https://fossil-scm.org/home/doc/trunk/www/sync.wiki}
 */

/** Proves who sends a message. */
export interface LoginCard {
  readonly kind: "login";
  readonly user: string;
  /** The hash of everything after the card, or of the whole message if a cookie has the card. */
  readonly nonce: string;
  /** SHA1 of the nonce and the shared secret. */
  readonly signature: string;
}

/** An artifact, or the delta that makes it from `source`. */
export interface FileCard {
  readonly kind: "file";
  readonly hash: string;
  readonly source: string | null;
  readonly content: Uint8Array;
}

/** Like {@link FileCard}, as a repository stores it. */
export interface PackedFileCard {
  readonly kind: "cfile";
  readonly hash: string;
  readonly source: string | null;
  /** Length of the artifact in bytes. */
  readonly size: number;
  /** The column `blob.content`. */
  readonly content: Uint8Array;
}

/** An unversioned file, or its removal. */
export interface UnversionedFileCard {
  readonly kind: "uvfile";
  readonly name: string;
  /** Unix seconds. */
  readonly time: number;
  /** Null if the file was removed. */
  readonly hash: string | null;
  /** Length in bytes. */
  readonly size: number;
  /** Null if the file was removed, or if the sender leaves its content out. */
  readonly content: Uint8Array | null;
}

/** A setting, or a group of them. */
export interface ConfigCard {
  readonly kind: "config";
  readonly name: string;
  readonly content: Uint8Array;
}

/** One card. */
export type Card =
  | LoginCard
  | FileCard
  | PackedFileCard
  | UnversionedFileCard
  | ConfigCard
  | { readonly kind: "push" | "pull"; readonly serverCode: string; readonly projectCode: string }
  /** Version 1 has neither number. */
  | { readonly kind: "clone"; readonly version: number; readonly sequence: number }
  /** The next number to ask for; 0 at the end. */
  | { readonly kind: "clone_seqno"; readonly next: number }
  /** The next `file` or `cfile` is private. */
  | { readonly kind: "private" }
  | { readonly kind: "igot"; readonly hash: string; readonly isPrivate: boolean }
  | { readonly kind: "gimme"; readonly hash: string }
  | {
    readonly kind: "uvigot";
    readonly name: string;
    /** Unix seconds. */
    readonly time: number;
    /** Null if the file was removed. */
    readonly hash: string | null;
    readonly size: number;
  }
  | { readonly kind: "uvgimme"; readonly name: string }
  | { readonly kind: "reqconfig"; readonly name: string }
  | { readonly kind: "cookie"; readonly text: string }
  | { readonly kind: "pragma"; readonly name: string; readonly values: readonly string[] }
  | { readonly kind: "message" | "error"; readonly text: string };

export type CardKind = Card["kind"];

/** Flags of a `uvfile` card. */
export const UV_REMOVED = 1;
export const UV_WITHOUT_CONTENT = 4;
/** The token for the hash of a removed unversioned file. */
export const NO_HASH = "-";
