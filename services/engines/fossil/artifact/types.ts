/**
 * The eight kinds of structural artifact, as typed values. Absent cards are null; times are Unix
 * milliseconds; hashes are lower case hexadecimal.
 *
 * @see {@link https://fossil-scm.org/home/doc/trunk/www/fileformat.wiki}
 */

/** The type of a file in a checkout: an ordinary file, an executable, or a symbolic link. */
export type FileMode = "file" | "executable" | "link";

/** F card: one file of a check-in. */
export interface FileCard {
  readonly name: string;
  /** Null in a delta manifest: the baseline has the file, this check-in does not. */
  readonly hash: string | null;
  readonly mode: FileMode;
  /** The file's name in the primary parent, if it was renamed. */
  readonly oldName: string | null;
}

/** Sign of a T card: `+` for its target alone, `*` for its descendants too, `-` to cancel. */
export type TagSign = "+" | "*" | "-";

/** T card: a tag or property put on an artifact, or cancelled there. */
export interface TagCard {
  readonly sign: TagSign;
  readonly name: string;
  /** Null for the artifact that has the card. */
  readonly target: string | null;
  readonly value: string | null;
}

/** Q card: a check-in (or the range from `base`, exclusive) cherry-picked or backed out. */
export interface CherrypickCard {
  readonly hash: string;
  readonly backout: boolean;
  readonly base: string | null;
}

/** J card: one field of a ticket is set, or `value` is appended to it. */
export interface TicketField {
  readonly name: string;
  readonly value: string;
  readonly append: boolean;
}

/** A check-in. */
export interface Manifest {
  readonly kind: "manifest";
  /** Hash of the full manifest that `files` amends; null for a full manifest. */
  readonly baseline: string | null;
  readonly comment: string | null;
  readonly date: number;
  /** In byte order of the names. */
  readonly files: readonly FileCard[];
  readonly mimetype: string | null;
  /** Primary parent first. */
  readonly parents: readonly string[];
  readonly cherrypicks: readonly CherrypickCard[];
  /** MD5 over names and contents of all files; optional. */
  readonly checksum: string | null;
  readonly tags: readonly TagCard[];
  readonly user: string | null;
}

/** A list of artifacts that a synchronisation may name at once. */
export interface Cluster {
  readonly kind: "cluster";
  readonly members: readonly string[];
}

/** Tags put on other artifacts. */
export interface Control {
  readonly kind: "control";
  readonly date: number;
  readonly tags: readonly TagCard[];
  readonly user: string;
}

/** One version of a wiki page. */
export interface Wiki {
  readonly kind: "wiki";
  readonly comment: string | null;
  readonly date: number;
  readonly title: string;
  readonly mimetype: string | null;
  readonly parents: readonly string[];
  readonly user: string;
  /** Empty text deletes the page. */
  readonly text: string;
}

/** One change of a ticket. */
export interface TicketChange {
  readonly kind: "ticket";
  readonly date: number;
  readonly fields: readonly TicketField[];
  /** 40 hexadecimal digits that name the ticket. */
  readonly ticket: string;
  readonly user: string;
}

/** A file attached to a wiki page, ticket or technote, or its removal. */
export interface Attachment {
  readonly kind: "attachment";
  readonly name: string;
  /** Title of a wiki page, or id of a ticket or technote. */
  readonly target: string;
  /** Hash of the content; null takes the attachment away. */
  readonly source: string | null;
  readonly comment: string | null;
  readonly date: number;
  readonly mimetype: string | null;
  readonly user: string | null;
}

/** One version of a technote ("event" in older documents). */
export interface Technote {
  readonly kind: "technote";
  readonly comment: string | null;
  readonly date: number;
  /** Time of the note in the timeline. */
  readonly eventDate: number;
  /** 40 or 64 hexadecimal digits that name the note. */
  readonly id: string;
  readonly mimetype: string | null;
  readonly parents: readonly string[];
  /** `+` tags on the note itself. */
  readonly tags: readonly TagCard[];
  readonly user: string | null;
  readonly text: string;
}

/** One version of a forum post. */
export interface ForumPost {
  readonly kind: "forum";
  readonly date: number;
  /** Hash of the first post of the thread; null for that post itself. */
  readonly root: string | null;
  /** Only posts that start a thread have one. */
  readonly title: string | null;
  /** Hash of the post this one answers. */
  readonly inReplyTo: string | null;
  readonly mimetype: string | null;
  /** Hash of the version this one replaces: none or one. */
  readonly parents: readonly string[];
  readonly user: string;
  readonly text: string;
}

export type Artifact =
  | Manifest
  | Cluster
  | Control
  | Wiki
  | TicketChange
  | Attachment
  | Technote
  | ForumPost;

export type ArtifactKind = Artifact["kind"];
