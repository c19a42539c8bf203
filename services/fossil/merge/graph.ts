/** Who descends from whom, as far as a merge needs to know. */
import type { Repository } from "../repository.ts";

/** Parents of check-ins by rows; read once each. Needs `read`. */
export class CheckinGraph {
  readonly #repository: Repository;
  readonly #parents = new Map<number, readonly number[]>();

  constructor(repository: Repository) {
    this.#repository = repository;
  }

  /** Parents, the primary one first. */
  parents(rid: number): readonly number[] {
    const known = this.#parents.get(rid);
    if (known !== undefined) return known;
    const select = "SELECT pid FROM plink WHERE cid=? ORDER BY isprim DESC, rowid";
    const parents = this.#repository.db.rows<{ pid: number }>(select, rid).map(({ pid }) => pid);
    this.#parents.set(rid, parents);
    return parents;
  }

  /** A check-in and everything that it descends from. */
  ancestors(rid: number): ReadonlySet<number> {
    const seen = new Set([rid]);
    for (const next of seen) {
      for (const parent of this.parents(next)) seen.add(parent);
    }
    return seen;
  }

  /**
   * The common ancestors of two check-ins that are no ancestors of one another: usually one, more
   * where the lines were merged crosswise, none where they have nothing in common. Newest first.
   */
  commonAncestors(left: number, right: number): number[] {
    const ofLeft = this.ancestors(left);
    const common = new Set([...this.ancestors(right)].filter((rid) => ofLeft.has(rid)));
    const best = new Set(common);
    for (const rid of common) {
      for (const parent of this.parents(rid)) best.delete(parent);
    }
    return [...best].toSorted((a, b) => this.#day(b) - this.#day(a) || a - b);
  }

  /** Julian day of a check-in, for a choice between several. */
  #day(rid: number): number {
    const select = "SELECT mtime FROM event WHERE objid=?";
    return this.#repository.db.value<number>(select, rid) ?? 0;
  }

  /**
   * The check-in, its primary parent, and so on, up to the first one in `stop`, inclusive. It ends
   * where a damaged repository has a check-in among its own ancestors.
   */
  primaryChain(rid: number, stop: ReadonlySet<number>): number[] {
    const chain = new Set<number>();
    let next: number | undefined = rid;
    while (next !== undefined && !chain.has(next)) {
      chain.add(next);
      next = stop.has(next) ? undefined : this.parents(next)[0];
    }
    return [...chain];
  }
}
