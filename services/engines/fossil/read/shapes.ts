/**
 * Results of the reading functions: plain data in the shapes of the JSON API. A worker can transfer
 * them, and a route or a command can print them unchanged. Timestamps are ISO 8601, UTC, with
 * milliseconds; `uuid` is the full hash of an artifact.
 */
import type { LfsPointer } from "./lfs_pointer.ts";

export type * from "./document_shapes.ts";
export type { LfsPointer };

/** A check-in in one line. */
export interface CheckinRef {
  readonly uuid: string;
  readonly timestamp: string;
  readonly user: string;
  readonly comment: string;
}

/** A check-in as the timeline shows it. */
export interface TimelineCheckin extends CheckinRef {
  readonly branch: string;
  /** Symbolic tags without the name of its branch, sorted. */
  readonly tags: readonly string[];
  /** Primary parent first. */
  readonly parents: readonly string[];
  readonly is_merge: boolean;
  readonly is_leaf: boolean;
  readonly is_closed: boolean;
}

/** A line of the graph from a check-in down to one of its parents. */
export interface GraphLink {
  readonly parent: string;
  /** Lane in which the line runs down. */
  readonly lane: number;
  readonly is_merge: boolean;
}

/** The graph beside one check-in. */
export interface GraphRow {
  /** Lane of the check-in's own dot, from 0 at the left. */
  readonly lane: number;
  /** Lanes of passing lines. */
  readonly passing: readonly number[];
  readonly links: readonly GraphLink[];
}

/** A page of check-ins. */
export interface Timeline {
  readonly checkins: readonly TimelineCheckin[];
  /** How many check-ins match, on all pages. */
  readonly total: number;
  /** One row per check-in, on request. */
  readonly graph?: readonly GraphRow[];
}

/** What an event of the timeline is about. */
export type EventKind = "checkin" | "wiki" | "ticket" | "technote" | "forum" | "tag";

/** Any event of the timeline. */
export interface TimelineEvent extends CheckinRef {
  readonly kind: EventKind;
  /** A moderator has not approved it yet: only its author should see it. */
  readonly awaits_approval: boolean;
}

/** A page of events of any kind. */
export interface Activity {
  readonly events: readonly TimelineEvent[];
  readonly total: number;
}

export type ChangeType = "added" | "modified" | "deleted" | "renamed";

/** What a file is. */
export type EntryType = "file" | "link";

/** What a check-in does to one file. */
export interface FileDifference {
  readonly name: string;
  /** `renamed` files may be modified too: then `uuid` and `prev_uuid` differ. */
  readonly change_type: ChangeType;
  /** Null if the file is deleted. */
  readonly uuid: string | null;
  /** Null if the file is new. */
  readonly prev_uuid: string | null;
  /** The name before, of a renamed file. */
  readonly prev_name: string | null;
  readonly type: EntryType;
  readonly executable: boolean;
  /** The type or the executable bit has changed. */
  readonly mode_changed: boolean;
}

/** A check-in with all details. */
export interface CheckinDetail extends TimelineCheckin {
  readonly files_changed: readonly FileDifference[];
  readonly children: readonly string[];
  /** Check-ins that were cherry-picked into this one, or backed out by it. */
  readonly cherrypicks: readonly { readonly uuid: string; readonly backout: boolean }[];
}

/** A file, a symbolic link or a folder in a tree. */
export interface TreeEntry {
  /** Last part of the path; in a flat listing the whole path. */
  readonly name: string;
  readonly type: EntryType | "dir";
  /** Null for a folder. */
  readonly uuid: string | null;
  /** Bytes; null for a folder and for missing content. */
  readonly size: number | null;
  readonly executable: boolean;
  /** The check-in that last changed the file, or anything below the folder. */
  readonly last_checkin: CheckinRef | null;
}

/** A folder at a check-in. */
export interface Tree {
  readonly checkin: string;
  /** Empty for the root. */
  readonly path: string;
  readonly entries: readonly TreeEntry[];
}

/** A file's content at a check-in. */
export interface FileContent {
  readonly checkin: string;
  readonly path: string;
  readonly uuid: string;
  readonly type: EntryType;
  readonly executable: boolean;
  /** Content has a NUL byte, or is not UTF-8. */
  readonly is_binary: boolean;
  readonly content: Uint8Array;
}

/** Some lines of a text file at a check-in. */
export interface FileLines extends Omit<FileContent, "content"> {
  /** Bytes of the whole file. */
  readonly size: number;
  /** Lines of the whole file; 0 if it is binary. */
  readonly total_lines: number;
  /** Number of the first line here, from 1. */
  readonly first: number;
  /** The lines without their ends. */
  readonly lines: readonly string[];
  /** Numbers of the lines here whose end is left out because they are too long. */
  readonly cut_lines: readonly number[];
  /** What it stands for if it is a pointer of Git LFS; else null. */
  readonly lfs: LfsPointer | null;
}

/** A check-in in the history of a file. */
export interface FileVersion extends CheckinRef {
  readonly branch: string;
  /** The name that the file had then. */
  readonly name: string;
  readonly change_type: ChangeType;
  readonly file_uuid: string | null;
  readonly prev_file_uuid: string | null;
  readonly prev_name: string | null;
}

/** A page of a file's history, newest first. */
export interface FileHistory {
  readonly path: string;
  readonly checkins: readonly FileVersion[];
  readonly total: number;
}

/** A line with the check-in that last changed it. */
export interface BlameLine {
  /** From 1. */
  readonly number: number;
  readonly uuid: string;
  readonly user: string;
  readonly timestamp: string;
  readonly text: string;
}

/** A file with the origin of each line. */
export interface Blame {
  readonly checkin: string;
  readonly path: string;
  readonly lines: readonly BlameLine[];
}

/** One file of a diff. */
export interface FileDiff {
  readonly name: string;
  readonly change_type: ChangeType;
  readonly prev_name: string | null;
  readonly uuid: string | null;
  readonly prev_uuid: string | null;
  readonly is_binary: boolean;
  /** Lines added and deleted; 0 for binary files. */
  readonly added: number;
  readonly deleted: number;
  /** Lines after the change; null if the file is not there, or not compared by lines. */
  readonly total_lines: number | null;
  /** Unified diff with its two file headers; for a binary file, one sentence. */
  readonly diff: string;
  /** The diff is omitted because of a limit. */
  readonly is_truncated: boolean;
  /**
   * Why the file cannot be read before or after the change; null if it can. Leaves `diff` empty.
   */
  readonly unreadable: string | null;
  /** What it stands for before and after the change, where it is a pointer of Git LFS; else null. */
  readonly prev_lfs: LfsPointer | null;
  readonly lfs: LfsPointer | null;
}

/** The differences between two check-ins. */
export interface Diff {
  /** Empty if the check-in has no parent. */
  readonly from: string;
  readonly to: string;
  /** How many files differ, on all pages. */
  readonly total: number;
  readonly files: readonly FileDiff[];
}

/** What one check-in has that another one lacks. */
export interface Comparison {
  readonly from: string;
  readonly to: string;
  /** The newest check-in that both have; null if they have nothing in common. */
  readonly common: string | null;
  /** Check-ins that `to` has and `from` lacks. */
  readonly ahead: number;
  /** Check-ins that `from` has and `to` lacks. */
  readonly behind: number;
  /** A page of those that `to` has and `from` lacks, newest first. */
  readonly checkins: readonly TimelineCheckin[];
}

export interface Branch {
  readonly name: string;
  readonly status: "open" | "closed";
  readonly last_uuid: string;
  readonly last_checkin: string;
  readonly last_user: string;
  readonly checkin_count: number;
  readonly is_private: boolean;
}

/** A branch with its distance from the main branch; null if counting would take too long. */
export interface DivergedBranch extends Branch {
  /** Check-ins that its newest check-in has, itself included, and the main branch lacks. */
  readonly ahead: number | null;
  /** Check-ins that the main branch has and it lacks. */
  readonly behind: number | null;
  /** Whether the main branch, itself included, has its newest check-in. */
  readonly is_merged: boolean;
  /**
   * Whether its name stands for its newest check-in. It does not if a newer check-in of another
   * branch has the name as a tag, or if it is also the beginning of a hash.
   */
  readonly is_named: boolean;
}

/** Who made check-ins. */
export interface Contributor {
  readonly user: string;
  readonly checkin_count: number;
  readonly first_checkin: string;
  readonly last_checkin: string;
}

/** Who made check-ins, and how many were made when. */
export interface Contributions {
  /** The one with the most check-ins first. */
  readonly contributors: readonly Contributor[];
  /** Every month with a check-in, the oldest first. */
  readonly months: readonly { readonly month: string; readonly checkin_count: number }[];
}

/** A symbolic name of check-ins that is not a branch. */
export interface Tag {
  readonly name: string;
  /** The newest check-in that has it. */
  readonly uuid: string;
  readonly timestamp: string;
  readonly user: string;
  readonly checkin_count: number;
}

/** An unversioned file in one line. */
export interface UnversionedRef {
  readonly name: string;
  /** Hash of its content. */
  readonly uuid: string;
  /** Bytes. */
  readonly size: number;
  readonly timestamp: string;
}

export interface UnversionedContent extends UnversionedRef {
  readonly is_binary: boolean;
  readonly content: Uint8Array;
}

/** Statistics of a repository. */
export interface Statistics {
  readonly project_name: string;
  readonly project_code: string;
  readonly checkin_count: number;
  readonly file_count: number;
  readonly branch_count: number;
  readonly tag_count: number;
  readonly ticket_count: number;
  readonly wiki_page_count: number;
  readonly technote_count: number;
  readonly forum_post_count: number;
  readonly user_count: number;
  readonly artifact_count: number;
  readonly delta_count: number;
  readonly phantom_count: number;
  /** Bytes of all artifacts, unpacked. */
  readonly artifact_bytes: number;
  /** Bytes of the file. */
  readonly repository_bytes: number;
  readonly first_checkin: string | null;
  readonly last_checkin: string | null;
}

/** How much in a repository is not finished. */
export interface OpenWork {
  readonly open_tickets: number;
  /** The open branches with check-ins that the main branch lacks. */
  readonly unmerged_branches: number;
}

/** A line of check-ins: one branch from a certain start. */
export interface Line {
  /** The newest leaf, an open one if there is one. */
  readonly tip: string;
  /** Newest first; several if the line was forked. */
  readonly leaves: readonly string[];
  /** The tip is closed. */
  readonly is_closed: boolean;
  /** How many check-ins it has, the start included. */
  readonly checkins: number;
  /** Whether its start changes no file: it only begins the branch. */
  readonly begins_empty: boolean;
  /** The check-in to which its changes apply: its start, or the last one that it merged. */
  readonly base: string;
}
