/** The messages between the main thread and the archive's worker. */

import type {
  HistoryQuery,
  HistoryRecord,
  HistoryTarget,
  LastMessage,
} from "../../../engines/irc/mod.ts";
import type { Extent, Retention } from "./extent.ts";
import type { LastChange } from "./journal_files.ts";
import type { LogPosition } from "./search_index.ts";
import type { SoughtWords } from "./spoken.ts";
import type { PackedOperations } from "./changes.ts";

/** A question to the archive. */
export type Question =
  | { readonly kind: "select"; readonly target: HistoryTarget; readonly query: HistoryQuery }
  | { readonly kind: "fetch"; readonly places: readonly number[] }
  | {
    readonly kind: "lastMessages";
    readonly channels: readonly string[];
    readonly account: string | null;
    readonly between: readonly [number, number];
  }
  | { readonly kind: "search"; readonly target: HistoryTarget; readonly wanted: RecordSearch }
  /** The channels of the newest logs, with what was said last for everybody. */
  | { readonly kind: "openChannels" }
  /** When the newest message was said that retention removed from a log. */
  | { readonly kind: "trimmed"; readonly target: HistoryTarget }
  /** The accounts that have a log, folded. */
  | { readonly kind: "accounts" };

/** What a search of a log looks for, and where it begins. */
export interface RecordSearch {
  readonly sought: SoughtWords;
  /**
   * Unix milliseconds. What was said later is not searched, and what was said then is found beyond
   * the limit. Null to search everything.
   */
  readonly upTo: number | null;
  /** Where the last answer stopped; null at the beginning. */
  readonly from: LogPosition | null;
  /** Messages to find, at least 1. */
  readonly limit: number;
}

/** What was said in one millisecond, up to the newest message that was found. */
export interface FoundMoment {
  /** Oldest first. */
  readonly records: readonly HistoryRecord[];
  /** Which of them were found, as positions. They may be too many: see {@linkcode SoughtWords}. */
  readonly hits: readonly number[];
}

/** What a search has found. */
export interface FoundRecords {
  /** Newest first. */
  readonly moments: readonly FoundMoment[];
  /** Where to search on; null if everything was searched. */
  readonly reached: LogPosition | null;
}

/** The answer to each question. */
export interface Answers {
  readonly select: readonly number[];
  readonly fetch: readonly HistoryRecord[];
  readonly lastMessages: readonly LastMessage[];
  readonly search: FoundRecords;
  readonly openChannels: readonly LastMessage[];
  readonly trimmed: number;
  readonly accounts: readonly string[];
}

/** A request to the worker. The first one opens the file; null closes it. */
export type Request =
  | {
    readonly id: number;
    readonly kind: "open";
    readonly path: string;
    /** As in `spokenIn`. */
    readonly speakerTag: string;
  }
  /**
   * Then removes the oldest records of each log longer than `records`; null for no limit. Then
   * empties these files of the journal.
   */
  | {
    readonly id: number;
    readonly kind: "write";
    readonly operations: PackedOperations;
    readonly records: number | null;
    readonly journals: readonly string[];
    /** The identity of the journal. */
    readonly identity: string;
  }
  | { readonly id: number; readonly kind: "ask"; readonly question: Question }
  /** Removes a limited number of records that retention does not keep. */
  | {
    readonly id: number;
    readonly kind: "trim";
    readonly retention: Retention;
    readonly now: number;
    readonly most: number;
  };

export type Response =
  | {
    readonly id: number;
    readonly kind: "opened";
    /** Unix time in milliseconds of the newest record; 0 without one. */
    readonly newestTime: number;
    readonly last: LastChange;
    readonly extent: Extent;
  }
  | {
    readonly id: number;
    readonly kind: "written";
    /** Used bytes of the file. */
    readonly bytes: number;
    /** The files of the journal that are empty. */
    readonly emptied: readonly string[];
  }
  | { readonly id: number; readonly kind: "answer"; readonly value: Answers[keyof Answers] }
  | { readonly id: number; readonly kind: "trimmed"; readonly removed: number }
  /** Before the file is closed: the disk has not confirmed all that was written. */
  | { readonly id: 0; readonly kind: "unsynced" }
  | {
    readonly id: number;
    readonly kind: "failed";
    readonly message: string;
    /** Whether it may work later: another program or the disk is in the way. */
    readonly isTrouble: boolean;
  };
