/** What import and export take and give: plain data. */

/** How far an import or export is. */
export interface GitProgress {
  /** `read`: the stream is taken in; `write`: check-ins are made, or the stream is written. */
  readonly phase: "read" | "write";
  readonly bytes: number;
  /** Commits or check-ins of this phase so far. */
  readonly commits: number;
  /** How many there are, null while that is not known. */
  readonly total: number | null;
}

/**
 * What one side has and the other cannot hold:
 * - `submodule`: an entry that names a commit of another repository; left out;
 * - `lfs-pointer`: a file whose content lies on an LFS server; kept as the pointer;
 * - `signature`: of a commit or tag; left out;
 * - `encoding`: a message, name or path that was not UTF-8; converted;
 * - `path`: a path that Fossil cannot hold; left out;
 * - `artifact`: a file that Fossil would take for an artifact of its own; left out;
 * - `ref`: a reference that was renamed or left out;
 * - `date`: outside the years 0 to 9999; kept beside the check-in;
 * - `note`: on a commit that the stream does not name as Git does; left out;
 * - `content`: of a file that is not in the repository; left out;
 * - `partial`: the stream may have been cut short;
 * - `kind`: artifacts without a counterpart in Git: wiki, tickets, forum, technotes; left out.
 */
export type GitNoticeKind =
  | "submodule"
  | "lfs-pointer"
  | "signature"
  | "encoding"
  | "path"
  | "artifact"
  | "ref"
  | "date"
  | "note"
  | "content"
  | "partial"
  | "kind";

/** One thing that did not come over as it was. */
export interface GitNotice {
  readonly kind: GitNoticeKind;
  /** A path, reference or commit. */
  readonly subject: string;
  /** One sentence. */
  readonly message: string;
}

/** What was noticed: how often each kind, and the first ones in full. */
export interface GitNotices {
  readonly counts: Readonly<Partial<Record<GitNoticeKind, number>>>;
  readonly first: readonly GitNotice[];
}

/** Options of `importGit`. */
export interface GitImportOptions {
  /** Git branch that becomes "trunk"; by default "trunk", "main", "master", or that of the stream's first commit. */
  readonly mainBranch?: string;
  /** Largest file, in bytes. */
  readonly maxFileBytes?: number;
  /** Takes a stream that may have been cut short; by default it is refused. */
  readonly isPartial?: boolean;
  readonly progress?: (progress: GitProgress) => void;
  readonly signal?: AbortSignal;
}

/** What an import made. */
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
  /** Git branch that "trunk" becomes; by default the one it was imported from, or "main". */
  readonly mainBranch?: string;
  readonly progress?: (progress: GitProgress) => void;
}

/** What an export wrote. */
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

/** What an import of a repository file took over. */
export interface FossilImportReport {
  /** Artifacts with content, including files. */
  readonly blobs: number;
  /** Structural artifacts. */
  readonly artifacts: number;
  readonly phantoms: number;
  /** Names of the settings that were taken over. */
  readonly settings: readonly string[];
}
