import type { Reader } from "./reader.ts";

/** Parents and children of every check-in, in memory. */
export class Ancestry {
  /** Primary parent by row, 0 for none. */
  readonly #primary: Int32Array;
  /** Merge parents by row. */
  readonly #merged = new Map<number, number[]>();

  constructor(size: number, links: readonly PlinkRow[]) {
    this.#primary = new Int32Array(size);
    for (const { pid, cid, isprim } of links) {
      if (isprim) this.#primary[cid] = pid;
      else this.#merged.set(cid, [...this.#merged.get(cid) ?? [], pid]);
    }
  }

  /** Roughly the bytes it takes. */
  get bytes(): number {
    return this.#primary.byteLength + this.#merged.size * 100;
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
