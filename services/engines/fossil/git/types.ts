/** Options and results of import and export: plain data. */

/** Progress of an import or export. */
export interface GitProgress {
  /** `read`: the stream is taken in; `write`: check-ins are made, or the stream is written. */
  readonly phase: "read" | "write";
  readonly bytes: number;
  /** Commits or check-ins of this phase so far. */
  readonly commits: number;
  /** The total, null while unknown. */
  readonly total: number | null;
}

/**
 * Data that the other side cannot hold:
 * - `submodule`: an entry that names a commit of another repository; only Git sees it;
 * - `lfs-pointer`: a file whose content lies on an LFS server; kept as the pointer;
 * - `signature`: of a tag, whose text is kept; of a commit in an export, left out;
 * - `encoding`: a message, name or path that was not UTF-8, or had a zero byte; converted for Fossil;
 * - `author`: an author, committer or tagger line that is malformed; kept beside the check-in, and
 *   repaired in exports;
 * - `path`: a path that Fossil cannot hold; only Git sees it; of Git's own folder, left out;
 * - `artifact`: a file that Fossil would treat as an artifact; left out;
 * - `ref`: a reference that was renamed or left out, or whose name means something else;
 * - `date`: outside the years 0 to 9999; kept beside the check-in;
 * - `note`: on a commit whose Git hash the stream does not contain; left out;
 * - `content`: of a file, missing from the repository, or not what Git LFS names it; left out;
 * - `partial`: the stream may have been cut short;
 * - `kind`: artifacts without a counterpart in Git: wiki, tickets, forum, technotes; left out;
 * - `private`: a private artifact of a repository file; left out.
 */
export type GitNoticeKind =
  | "submodule"
  | "lfs-pointer"
  | "signature"
  | "encoding"
  | "author"
  | "path"
  | "artifact"
  | "ref"
  | "date"
  | "note"
  | "content"
  | "partial"
  | "kind"
  | "private";

/** One thing that was not imported or exported unchanged. */
export interface GitNotice {
  readonly kind: GitNoticeKind;
  /** A path, reference or commit. */
  readonly subject: string;
  /** One sentence. */
  readonly message: string;
}

/** The notices: the number of each kind, and the first ones in full. */
export interface GitNotices {
  readonly counts: Readonly<Partial<Record<GitNoticeKind, number>>>;
  readonly first: readonly GitNotice[];
}

/** Options of `importGit`. */
export interface GitImportOptions {
  /** The main branch; by default "trunk", "main", "master", or that of the stream's first commit. */
  readonly mainBranch?: string;
  /** Largest file, in bytes. */
  readonly maxFileBytes?: number;
  /**
   * Accepts a stream that may have been cut short; by default it is refused. Only with `false`, the
   * error names the option `--partial` of `muster fossil import`.
   */
  readonly isPartial?: boolean;
  readonly progress?: (progress: GitProgress) => void;
  readonly signal?: AbortSignal;
}

/** Result of an import. */
export interface GitImportReport {
  readonly checkins: number;
  /** Different file contents. */
  readonly files: number;
  readonly branches: number;
  readonly tags: number;
  readonly notices: GitNotices;
}

/** Options of `exportGit`. */
export interface GitExportOptions {
  /**
   * The name of the main branch in Git. By default it keeps its name, but a "trunk" that Git has not
   * named is "main" there if no other branch is.
   */
  readonly mainBranch?: string;
  /**
   * For the public: leaves out branches whose names begin with one of these, with the check-ins that
   * nothing else reaches.
   */
  readonly withoutBranches?: readonly string[];
  readonly progress?: (progress: GitProgress) => void;
}

/** Result of an export. */
export interface GitExportReport {
  readonly commits: number;
  readonly files: number;
  readonly branches: number;
  readonly tags: number;
  readonly notices: GitNotices;
}

/** Options of `importFossil`. */
export interface FossilImportOptions {
  readonly progress?: (done: number, total: number) => void;
}

/** Result of the import of a repository file. */
export interface FossilImportReport {
  /** Artifacts with content, including files. */
  readonly blobs: number;
  /** Structural artifacts. */
  readonly artifacts: number;
  readonly phantoms: number;
  /** Names of the imported settings. */
  readonly settings: readonly string[];
  /** The private artifacts that were left out. */
  readonly notices: GitNotices;
}
