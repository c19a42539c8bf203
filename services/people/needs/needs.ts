import type { Principal } from "../identity/mod.ts";

/** What can wait for somebody. A source of a new kind adds its word here. */
export const NEED_KINDS = [
  "question",
  "review",
  "conflict",
  "stuck",
  "silent",
  "budget",
] as const;
export type NeedKind = (typeof NEED_KINDS)[number];

/**
 * Anybody of a group may act: the admins of this server, the admins of the project, or its members
 * who may write. The groups after the first one include those before it.
 */
export const NEED_GROUPS = ["admins", "project admins", "members"] as const;
export type NeedGroup = (typeof NEED_GROUPS)[number];

/** Something that waits for somebody. */
export interface Need {
  readonly kind: NeedKind;
  /** Unique among all needs, and the same on each read: `question/12`, `review/demo/3`. */
  readonly id: string;
  /** What it is about, in one line. Others wrote it: it is data, and not safe as HTML. */
  readonly title: string;
  /** Why it waits, in a few words that may hold names: `coder-1 asks`. */
  readonly why: string;
  /** The accounts that must act; empty if it is anybody of the group. */
  readonly actors: readonly string[];
  /** Who may act, if it is nobody in particular, or in place of the actors. */
  readonly group: NeedGroup | null;
  /** Whether the reader is one of those who must act. */
  readonly isYours: boolean;
  /** Since when it waits, in Unix milliseconds; null if that is not known. */
  readonly since: number | null;
  /** When it ends by itself, in Unix milliseconds; null if it does not. */
  readonly until: number | null;
  /** The slug of its project; null if it belongs to none. */
  readonly project: string | null;
  /** The path of its web page. */
  readonly link: string;
}

/** Most needs that a source returns. */
export const MAX_NEEDS_OF_SOURCE = 500;

/** A part of the program in which things can wait for somebody. */
export interface NeedSource {
  /** The kinds of its needs: lists of other kinds do not ask it. Absent: it is always asked. */
  readonly kinds?: readonly NeedKind[];
  /**
   * What waits, as far as the reader may know of it, in any order; at most
   * {@link MAX_NEEDS_OF_SOURCE}. It answers from memory or with a fixed number of queries.
   */
  needs(reader: Principal): Promise<readonly Need[]> | readonly Need[];
}

/** Which needs to list. */
export interface NeedQuery {
  readonly limit: number;
  readonly offset: number;
  /** Absent: all. */
  readonly kinds?: readonly NeedKind[];
}

/** A page of needs. */
export interface NeedPage {
  readonly needs: readonly Need[];
  /** How many needs there are on all pages. */
  readonly total: number;
  /** How many of all wait for the reader. */
  readonly yours: number;
}

/** One list of everything that waits for somebody, from all parts of the program. */
export class Needs {
  readonly #sources: NeedSource[] = [];

  /** Adds a source to the list. */
  add(source: NeedSource): void {
    this.#sources.push(source);
  }

  /** A page of what waits: first what waits for the reader, and of that the oldest first. */
  async list(reader: Principal, { limit, offset, kinds }: NeedQuery): Promise<NeedPage> {
    const isWanted = (kind: NeedKind) => kinds?.includes(kind) ?? true;
    const asked = this.#sources.filter((source) => source.kinds?.some(isWanted) ?? true);
    const found = await Promise.all(asked.map((source) => source.needs(reader)));
    const needs = found.flatMap((some) => some.slice(0, MAX_NEEDS_OF_SOURCE))
      .filter(({ kind }) => isWanted(kind)).sort(inOrder);
    return {
      needs: needs.slice(offset, offset + limit),
      total: needs.length,
      yours: needs.filter(({ isYours }) => isYours).length,
    };
  }
}

function inOrder(one: Need, other: Need): number {
  if (one.isYours !== other.isYours) return one.isYours ? -1 : 1;
  return (one.since ?? 0) - (other.since ?? 0) || (one.id < other.id ? -1 : 1);
}
