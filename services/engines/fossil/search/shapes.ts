/** Requests and results of a search: plain data, see `../read/shapes.ts`. */
import type { CheckinRef, Paging } from "../read/mod.ts";

/** Where the index of a repository is kept: `x.fossil` has `x.index`. */
export function searchIndexPath(repositoryPath: string): string {
  return `${repositoryPath.replace(/\.fossil$/, "")}.index`;
}

export type SearchKind = "checkin" | "ticket" | "wiki" | "technote" | "forum" | "code";

/** What to search for. */
export interface SearchOptions extends Paging {
  /** Words that must all occur; `"a phrase"`, `prefix*` and `-without` also work. */
  readonly query: string;
  /** All kinds if absent. */
  readonly kinds?: readonly SearchKind[];
}

/** The common part of all matches. */
interface Match {
  /** Text around the match. */
  readonly snippet: string;
  /** Positions of the words in the snippet: start and end in UTF-16 units. */
  readonly highlights: readonly (readonly [start: number, end: number])[];
}

export type SearchMatch =
  | Match & CheckinRef & { readonly kind: "checkin" }
  | Match & {
    readonly kind: "ticket";
    readonly uuid: string;
    readonly title: string;
    readonly status: string;
    readonly created: string;
  }
  | Match & { readonly kind: "wiki"; readonly name: string; readonly last_modified: string }
  | Match & {
    readonly kind: "technote";
    readonly id: string;
    readonly comment: string;
    readonly last_modified: string;
  }
  | Match & {
    readonly kind: "forum";
    /** Hash of the post's first version. */
    readonly uuid: string;
    /** Title of its thread. */
    readonly title: string;
    readonly last_modified: string;
  }
  | Match & {
    readonly kind: "code";
    /** The check-in whose files were searched. */
    readonly checkin: string;
    readonly path: string;
    readonly uuid: string;
    /** Line of the first match, from 1. */
    readonly line: number;
  };

/** A page of matches, best first. */
export interface SearchPage {
  readonly matches: readonly SearchMatch[];
  readonly total: number;
}

/** A page of matches from an index that may be behind its repository. */
export interface SearchResult extends SearchPage {
  /** Whether the index has the whole repository. If not, matches can be missing. */
  readonly is_complete: boolean;
}
