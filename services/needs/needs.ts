import type { Principal } from "../identity/mod.ts";
import { MAX_NEEDS_OF_SOURCE, type Need, type NeedKind, type NeedSource } from "./need.ts";

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
