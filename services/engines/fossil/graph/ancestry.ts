import type { Database } from "../content/mod.ts";
import { addTo } from "../text/mod.ts";

/**
 * The ancestry: the parents of every check-in, in memory. Every walk ends, even if tags have made a
 * check-in its own ancestor.
 */
export class Ancestry {
  /** Primary parent by row, 0 for none; longer than the number of rows. */
  #primary = new Int32Array(0);
  /** The number after the last row of an artifact. */
  #size = 0;
  #lastLink = 0;
  /** Merge parents by row. */
  readonly #merged = new Map<number, number[]>();
  #generations: Int32Array | null = null;

  /** The row of the last link, 0 if there is none. */
  get lastLink(): number {
    return this.#lastLink;
  }

  /**
   * Adds links, in the order of their rows.
   *
   * @param size the number after the last row of an artifact
   */
  add(size: number, links: readonly PlinkRow[]): void {
    this.#size = size;
    if (size > this.#primary.length) {
      const primary = new Int32Array(Math.ceil(size * HEADROOM));
      primary.set(this.#primary);
      this.#primary = primary;
    }
    for (const { pid, cid, isprim } of links) {
      if (isprim) this.#primary[cid] = pid;
      else addTo(this.#merged, cid, pid);
    }
    this.#lastLink = links.at(-1)?.link ?? this.#lastLink;
    // Whatever descends from a check-in with new parents would need another generation.
    if (links.some(({ cid }) => this.#generations?.[cid] !== undefined)) this.#generations = null;
  }

  primaryParent(rid: number): number {
    return this.#primary[rid] ?? 0;
  }

  /** Whether a check-in has more than one parent. */
  isMerge(rid: number): boolean {
    return this.#merged.has(rid);
  }

  mergeParents(rid: number): readonly number[] {
    return this.#merged.get(rid) ?? NONE;
  }

  /** All parents, the primary one first. */
  parents(rid: number): readonly number[] {
    const primary = this.primaryParent(rid);
    return primary === 0 ? this.mergeParents(rid) : [primary, ...this.mergeParents(rid)];
  }

  /** The check-in and all its ancestors, as a mark (1) by row. */
  ancestors(rid: number): Uint8Array {
    const marks = new Uint8Array(this.#size);
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
   * The ancestors of a check-in, itself included, that an earlier one on its primary line does not
   * have; null if there are more than `most`, or the other one is not on the line.
   */
  since(earlier: number, rid: number, most: number): readonly number[] | null {
    const line: number[] = [];
    for (let next = rid; next !== earlier; next = this.primaryParent(next)) {
      if (next === 0 || line.push(next) > most) return null;
    }
    const stack = line.flatMap((next) => this.mergeParents(next));
    if (stack.length === 0) return line;
    const known = this.ancestors(earlier);
    const fresh = new Set(line);
    for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
      if (known[next] === 1 || fresh.has(next)) continue;
      if (fresh.add(next).size > most) return null;
      stack.push(...this.parents(next));
    }
    return [...fresh];
  }

  /**
   * The best common ancestors of two check-ins: usually one, several for a criss-cross merge, none
   * if they have no common history.
   */
  commonAncestors(left: number, right: number): number[] {
    const [common, ofRight] = [this.ancestors(left), this.ancestors(right)];
    for (let rid = 0; rid < common.length; rid++) common[rid]! &= ofRight[rid]!;
    const best = common.slice();
    for (let rid = 1; rid < common.length; rid++) {
      if (common[rid] === 0) continue;
      best[this.primaryParent(rid)] = 0;
      for (const parent of this.mergeParents(rid)) best[parent] = 0;
    }
    return Array.from(marked(best));
  }

  /**
   * Generation by row: a check-in's is higher than those of all its parents. A loop of parents,
   * which no honest repository has, is cut at an arbitrary point.
   */
  generations(): Int32Array {
    if (this.#generations?.length !== this.#size) {
      this.#generations = this.#countGenerations(this.#generations ?? new Int32Array(0));
    }
    return this.#generations;
  }

  /** @param known the generations of the first rows */
  #countGenerations(known: Int32Array): Int32Array {
    const generations = new Int32Array(this.#size);
    generations.set(known);
    const isOpen = new Uint8Array(this.#size).fill(1, 0, known.length);
    for (let start = Math.max(1, known.length); start < this.#size; start++) {
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

const NONE: readonly number[] = [];

/** The rows that have a mark. */
function* marked(marks: Uint8Array): Generator<number> {
  for (let rid = marks.indexOf(1); rid >= 0; rid = marks.indexOf(1, rid + 1)) yield rid;
}

/** So much longer than needed is the array of the parents, so that it lasts for some check-ins. */
const HEADROOM = 1.1;

/** A row of the table plink. */
interface PlinkRow {
  readonly link: number;
  readonly pid: number;
  readonly cid: number;
  readonly isprim: number;
}

/** Reads all links between check-ins. Needs `read`. */
export function loadAncestry(db: Database): Ancestry {
  const ancestry = new Ancestry();
  extendAncestry(db, ancestry);
  return ancestry;
}

/** Reads the links that were added since. Needs `read`. */
export function extendAncestry(db: Database, ancestry: Ancestry): void {
  const size = (db.value<number | null>("SELECT max(rid) FROM blob") ?? 0) + 1;
  const links = db.rows<PlinkRow>(
    "SELECT rowid AS link, pid, cid, isprim FROM plink WHERE rowid>? ORDER BY rowid",
    ancestry.lastLink,
  );
  ancestry.add(size, links);
}
