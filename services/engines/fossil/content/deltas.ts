import { createDelta } from "../codec/mod.ts";
import type { Database } from "./database.ts";

/** Artifacts with fewer bytes neither become a delta nor the source of one. */
export const MIN_DELTA_BYTES = 50;
/** A delta is kept if it is smaller than this part of the artifact. */
const MAX_DELTA_RATIO = 0.75;

/** Sources kept in memory; each takes about 50 bytes. */
const MAX_KEPT = 50_000;
/** Links kept in memory that lead further along a chain. */
const MAX_FURTHER = 1_000_000;
/** The names of artifacts that are never stored as deltas: one of 4,096. */
const WHOLE = /^000/;

/** A delta that makes `target` from `source`; null if it saves too little. */
export function worthwhileDelta(source: Uint8Array, target: Uint8Array): Uint8Array | null {
  if (Math.min(source.length, target.length) < MIN_DELTA_BYTES) return null;
  const delta = createDelta(source, target);
  return delta.length < target.length * MAX_DELTA_RATIO ? delta : null;
}

/**
 * Whether an artifact stays full text. Each version of a file is stored as a delta of the next, so
 * without such ones a chain would be as long as the history, and reading its end as slow.
 */
export function staysWhole(hash: string): boolean {
  return WHOLE.test(hash);
}

/** The table `delta`: which artifact is stored as a delta of which. */
export class Deltas {
  readonly #db: Database;
  /** Recently used sources. */
  readonly #sources = new Map<number, number>();
  /** For artifacts whose chain was walked: one that is further along it. */
  readonly #further = new Map<number, number>();

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
    this.#further.clear();
  }

  /** Artifacts that are stored as deltas of this one. */
  dependents(rid: number): number[] {
    return this.#db.rows<{ rid: number }>("SELECT rid FROM delta WHERE srcid=? ORDER BY rid", rid)
      .map((row) => row.rid);
  }

  /** Makes full text, or a phantom, a delta. The source must not depend on it: see `endOf`. */
  set(rid: number, source: number): void {
    this.#sources.delete(rid);
    this.#db.run("REPLACE INTO delta(rid,srcid) VALUES(?,?)", rid, source);
  }

  delete(rid: number): void {
    this.#sources.delete(rid);
    this.#further.clear();
    this.#db.run("DELETE FROM delta WHERE rid=?", rid);
  }

  /**
   * The end of an artifact's chain: full text, a phantom, or itself if it is no delta; 0 if the chain
   * is a loop. A long chain that grows link by link is not walked again for each.
   */
  endOf(rid: number): number {
    const chain: number[] = [];
    let next = rid;
    for (let landmark = rid;;) {
      const further = this.#further.get(next) ?? this.sourceOf(next);
      if (further === 0) break;
      if (further === landmark) return 0;
      chain.push(next);
      if ((chain.length & (chain.length - 1)) === 0) landmark = further;
      next = further;
    }
    if (this.#further.size > MAX_FURTHER) this.#further.clear();
    for (const link of chain) this.#further.set(link, next);
    return next;
  }
}
