import type { Reader } from "./reader.ts";

/** Parents and children of every check-in, in memory. */
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

  /** Roughly the bytes it takes. */
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

  /** The check-in and all that it descends from, as a mark (1) by row. */
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
   * Generation by row: a check-in's is higher than those of all its parents. A loop of parents, which
   * no honest repository has, is cut somewhere.
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
        const parents = [this.primaryParent(rid), ...this.mergeParents(rid)];
        const missing = generations[rid] !== 0
          ? []
          : parents.filter((parent) => parent !== 0 && isOpen[parent] === 0);
        if (isOpen[rid] === 0 && missing.length > 0) {
          isOpen[rid] = 1;
          stack.push(...missing);
          continue;
        }
        isOpen[rid] = 1;
        generations[rid] ||= 1 + Math.max(...parents.map((parent) => generations[parent] ?? 0));
        stack.pop();
      }
    }
    return generations;
  }

  /** The check-in, its primary parent, that one's primary parent, … */
  *primaryChain(rid: number): Generator<number> {
    const marks = new Uint8Array(this.#primary.length);
    for (let next = rid; next !== 0 && marks[next] === 0; next = this.primaryParent(next)) {
      marks[next] = 1;
      yield next;
    }
  }
}

interface PlinkRow {
  readonly pid: number;
  readonly cid: number;
  readonly isprim: number;
}

/** Who descends from whom. Needs `read`. */
export function ancestryOf(reader: Reader): Ancestry {
  const { db } = reader.repository;
  return reader.cached("ancestry", () => {
    const size = (db.value<number | null>("SELECT max(rid) FROM blob") ?? 0) + 1;
    const links = db.rows<PlinkRow>("SELECT pid, cid, isprim FROM plink ORDER BY rowid");
    const value = new Ancestry(size, links);
    return { value, bytes: value.bytes };
  });
}
