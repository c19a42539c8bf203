import { type Ancestry, loadAncestry } from "../graph/mod.ts";
import type { Repository } from "../repository.ts";

/** The ancestry for merging. Needs `read`. */
export class CheckinGraph {
  readonly #repository: Repository;
  readonly #ancestry: Ancestry;

  constructor(repository: Repository) {
    this.#repository = repository;
    this.#ancestry = loadAncestry(repository.db);
  }

  /** Parents, the primary one first. */
  parents(rid: number): readonly number[] {
    return this.#ancestry.parents(rid);
  }

  /** The check-in and all its ancestors, as a mark (1) by row. */
  ancestors(rid: number): Uint8Array {
    return this.#ancestry.ancestors(rid);
  }

  /** See `Ancestry.commonAncestors`; newest first. */
  commonAncestors(left: number, right: number): number[] {
    return this.#ancestry.commonAncestors(left, right)
      .toSorted((a, b) => this.#day(b) - this.#day(a) || a - b);
  }

  /** Julian day of a check-in, for a choice between several. */
  #day(rid: number): number {
    const select = "SELECT mtime FROM event WHERE objid=?";
    return this.#repository.db.value<number>(select, rid) ?? 0;
  }

  /**
   * The check-in, its primary parent, and so on, up to and including the first for which `ends`
   * holds.
   */
  primaryChain(rid: number, ends: (rid: number) => boolean): number[] {
    const chain: number[] = [];
    for (const next of this.#ancestry.primaryChain(rid)) {
      chain.push(next);
      if (ends(next)) break;
    }
    return chain;
  }
}
