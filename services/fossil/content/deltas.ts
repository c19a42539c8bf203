import { createDelta } from "../codec/mod.ts";
import type { Database } from "./database.ts";

/** No honest chain is this long; a longer one is a loop. */
export const MAX_CHAIN = 100_000;

/** Artifacts with fewer bytes neither become a delta nor the source of one. */
export const MIN_DELTA_BYTES = 50;
/** A delta is kept if it is smaller than this part of the artifact. */
const MAX_DELTA_RATIO = 0.75;

/** Sources kept in memory; each takes about 50 bytes. */
const MAX_KEPT = 50_000;

/** The delta that makes `target` from `source`, by Fossil's rules; null if it saves too little. */
export function worthwhileDelta(source: Uint8Array, target: Uint8Array): Uint8Array | null {
  if (Math.min(source.length, target.length) < MIN_DELTA_BYTES) return null;
  const delta = createDelta(source, target);
  return delta.length < target.length * MAX_DELTA_RATIO ? delta : null;
}

/** The table `delta`: which artifact is stored as a delta of which. */
export class Deltas {
  readonly #db: Database;
  /** Recently used sources. */
  readonly #sources = new Map<number, number>();

  constructor(db: Database) {
    this.#db = db;
  }

  /** Row of the artifact's delta source, 0 for full text. */
  sourceOf(rid: number): number {
    const known = this.#sources.get(rid);
    if (known !== undefined) return known;
    const source = this.#db.value<number>("SELECT srcid FROM delta WHERE rid=?", rid) ?? 0;
    if (this.#sources.size >= MAX_KEPT) this.#sources.clear();
    this.#sources.set(rid, source);
    return source;
  }

  /** Clears the cache, because another program wrote or a transaction was rolled back. */
  forget(): void {
    this.#sources.clear();
  }

  /** Artifacts that are stored as deltas of this one. */
  dependents(rid: number): number[] {
    return this.#db.rows<{ rid: number }>("SELECT rid FROM delta WHERE srcid=? ORDER BY rid", rid)
      .map((row) => row.rid);
  }

  set(rid: number, source: number): void {
    this.#sources.delete(rid);
    this.#db.run("REPLACE INTO delta(rid,srcid) VALUES(?,?)", rid, source);
  }

  delete(rid: number): void {
    this.#sources.delete(rid);
    this.#db.run("DELETE FROM delta WHERE rid=?", rid);
  }

  /** Whether the chain that starts at `rid` contains `wanted`. */
  chainHas(rid: number, wanted: number): boolean {
    if (wanted === 0) return false;
    let next = rid;
    for (let steps = 0; next !== 0 && next !== wanted && steps <= MAX_CHAIN; steps++) {
      next = this.sourceOf(next);
    }
    return next !== 0 && next === wanted;
  }
}
