import type { Database } from "../content/mod.ts";

/**
 * The ancestry: the parents of every check-in, in memory. Every walk ends, even if tags have made a
 * check-in its own ancestor.
 */
export class Ancestry {
  /** Primary parent by row, 0 for none. */
  readonly #primary: Int32Array;
  /** Merge parents by row. */
  readonly #merged = new Map<number, number[]>();
  #generations: Int32Array | null = null;

  constructor(size: number, links: readonly PlinkRow[]) {
    this.#primary = new Int32Array(size);
    for (const { pid, cid, isprim } of links) {
      if (isprim) this.#primary[cid] = pid;
      else this.#merged.set(cid, [...this.#merged.get(cid) ?? [], pid]);
    }
  }

  /** Approximate size in bytes. */
  get bytes(): number {
    return 2 * this.#primary.byteLength + this.#merged.size * 100;
  }

  primaryParent(rid: number): number {
    return this.#primary[rid] ?? 0;
  }

  /** Whether a check-in has more than one parent. */
  isMerge(rid: number): boolean {
    return this.#merged.has(rid);
  }

  mergeParents(rid: number): readonly number[] {
    return this.#merged.get(rid) ?? [];
  }

  /** All parents, the primary one first. */
  parents(rid: number): readonly number[] {
    const primary = this.primaryParent(rid);
    return primary === 0 ? this.mergeParents(rid) : [primary, ...this.mergeParents(rid)];
  }

  /** The check-in and all its ancestors, as a mark (1) by row. */
  ancestors(rid: number): Uint8Array {
    const marks = new Uint8Array(this.#primary.length);
    const stack = [rid];
    for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
      for (; next !== 0 && marks[next] === 0; next = this.primaryParent(next)) {
        marks[next] = 1;
        stack.push(...this.mergeParents(next));
      }
    }
    return marks;
  }

  /**
   * The best common ancestors of two check-ins: usually one, several for a criss-cross merge, none
   * if they have no common history.
   */
  commonAncestors(left: number, right: number): number[] {
    const [ofLeft, ofRight] = [this.ancestors(left), this.ancestors(right)];
    const common: number[] = [];
    for (let rid = 1; rid < ofLeft.length; rid++) {
      if (ofLeft[rid] === 1 && ofRight[rid] === 1) common.push(rid);
    }
    const best = new Set(common);
    for (const rid of common) {
      for (const parent of this.parents(rid)) best.delete(parent);
    }
    return [...best];
  }

  /**
   * Generation by row: a check-in's is higher than those of all its parents. A loop of parents,
   * which no honest repository has, is cut at an arbitrary point.
   */
  generations(): Int32Array {
    this.#generations ??= this.#countGenerations();
    return this.#generations;
  }

  #countGenerations(): Int32Array {
    const generations = new Int32Array(this.#primary.length);
    const isOpen = new Uint8Array(this.#primary.length);
    for (let start = 1; start < this.#primary.length; start++) {
      const stack = [start];
      for (let rid = stack.at(-1); rid !== undefined; rid = stack.at(-1)) {
        const parents = this.parents(rid);
        const missing = generations[rid] !== 0
          ? []
          : parents.filter((parent) => isOpen[parent] === 0);
        if (isOpen[rid] === 0 && missing.length > 0) {
          isOpen[rid] = 1;
          stack.push(...missing);
          continue;
        }
        isOpen[rid] = 1;
        generations[rid] ||= 1 + Math.max(0, ...parents.map((parent) => generations[parent] ?? 0));
        stack.pop();
      }
    }
    return generations;
  }

  /**
   * The check-in, its primary parent, that one's primary parent, … A loop of parents, which no
   * honest repository has, is repeated a few times, until a landmark is met again.
   */
  *primaryChain(rid: number): Generator<number> {
    let [landmark, steps] = [0, 0];
    for (let next = rid; next !== 0 && next !== landmark; next = this.primaryParent(next)) {
      if ((steps & (steps - 1)) === 0) landmark = next;
      steps++;
      yield next;
    }
  }
}

/** A row of the table plink. */
interface PlinkRow {
  readonly pid: number;
  readonly cid: number;
  readonly isprim: number;
}

/** Reads all links between check-ins. Needs `read`. */
export function loadAncestry(db: Database): Ancestry {
  const size = (db.value<number | null>("SELECT max(rid) FROM blob") ?? 0) + 1;
  const links = db.rows<PlinkRow>("SELECT pid, cid, isprim FROM plink ORDER BY rowid");
  return new Ancestry(size, links);
}
