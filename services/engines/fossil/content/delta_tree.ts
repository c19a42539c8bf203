import type { Database } from "./database.ts";

/** Rows read at a time. */
const BATCH_ROWS = 10_000;

/** The table `delta` in memory, by source: 16 bytes per row. */
export class DeltaTree {
  readonly #rids: Float64Array;
  readonly #sources: Float64Array;

  /** Reads the table. Needs a transaction. */
  constructor(db: Database) {
    const count = db.value<number>("SELECT count(*) FROM delta") ?? 0;
    this.#rids = new Float64Array(count);
    this.#sources = new Float64Array(count);
    const select = `SELECT srcid, rid FROM delta WHERE (srcid, rid)>(?,?)
      ORDER BY srcid, rid LIMIT ${BATCH_ROWS}`;
    let [source, last] = [-Infinity, -Infinity];
    for (let done = 0; done < count;) {
      const rows = db.rows<{ srcid: number; rid: number }>(select, source, last);
      if (rows.length === 0) break;
      for (const { srcid, rid } of rows) {
        this.#sources[done] = srcid;
        this.#rids[done++] = rid;
        [source, last] = [srcid, rid];
      }
    }
  }

  /** Artifacts that are stored as deltas of this one, by row. */
  dependents(rid: number): Float64Array {
    const start = this.#lowerBound(rid);
    let end = start;
    while (this.#sources[end] === rid) end++;
    return this.#rids.subarray(start, end);
  }

  #lowerBound(source: number): number {
    let [low, high] = [0, this.#sources.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#sources[middle]! < source) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
