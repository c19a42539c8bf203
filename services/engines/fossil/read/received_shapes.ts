/** What a repository has received, and how far. */

/** How much a repository had received at some moment. */
export interface ReceivedPlace {
  /** Number of the newest transaction that brought content. */
  readonly rcvid: number;
  /** Row of the newest content. */
  readonly rid: number;
  /** Artifacts that are known by name and awaited. */
  readonly phantoms: number;
}

/** How much a repository has received, and which project's it is. */
export interface RepositoryPlace extends ReceivedPlace {
  /** The code that all clones of a project share. */
  readonly projectCode: string;
}

/** An artifact that stands in the timeline, as it was received. */
export type ReceivedArtifact =
  & {
    readonly uuid: string;
    readonly user: string;
    /** The artifact's own date, in Unix milliseconds. */
    readonly date: number;
    readonly timestamp: string;
    /** The row of `rcvfrom` of the transaction that received it. */
    readonly receipt: number;
    /** The mark of that row, which its writer gave it; null if it has none. */
    readonly mark: string | null;
  }
  & (
    | {
      readonly kind: "checkin";
      readonly comment: string;
      readonly branch: string;
      readonly parents: readonly string[];
    }
    | {
      readonly kind: "ticket";
      readonly ticket: string;
      /** Title and status as they are now. */
      readonly title: string;
      readonly status: string;
      /** Whether the ticket is closed now, by the repository's own words. */
      readonly is_closed: boolean;
      /** Whether the change itself closes it. */
      readonly closes: boolean;
      /** Whether it is the ticket's first change. */
      readonly is_new: boolean;
      /** Names of the fields that the change sets. */
      readonly fields: readonly string[];
    }
    | { readonly kind: "wiki"; readonly name: string; readonly is_deleted: boolean }
    | { readonly kind: "technote"; readonly name: string }
    | { readonly kind: "forum"; readonly thread: string | null }
    | { readonly kind: "attachment"; readonly name: string; readonly target: string }
    | { readonly kind: "tag"; readonly tags: readonly ReceivedTag[] }
  );

/** A tag that a control artifact puts on another one, or takes from it. */
export interface ReceivedTag {
  readonly sign: "+" | "*" | "-";
  readonly name: string;
  /** Hash of the artifact; null for the control artifact itself. */
  readonly target: string | null;
  readonly value: string | null;
}

/** What a repository received. */
export interface Received {
  /** Oldest first. */
  readonly artifacts: readonly ReceivedArtifact[];
  /** What to give as `after` for what comes next. */
  readonly place: RepositoryPlace;
  readonly more: boolean;
  /** Bytes of the repository in use: artifacts, unversioned files and tables. */
  readonly bytes: number;
}
