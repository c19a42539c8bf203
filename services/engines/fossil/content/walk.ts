import { FossilError } from "../error.ts";
import type { Database } from "./database.ts";
import type { ContentStore } from "./store.ts";
import type { StoredArtifact } from "./store_types.ts";
import { firstIndex } from "../../../kernel/first_index.ts";

/** An artifact with its bytes, or with the reason why they are not available. */
export type WalkedArtifact =
  | StoredArtifact & { readonly rid: number }
  | { readonly rid: number; readonly content: null; readonly error: FossilError };

/**
 * Visits all artifacts along the delta chains. Each delta is applied while the bytes of its source
 * are in memory, which is a hundred times quicker than one by one. Skips phantoms, and deltas that
 * depend on one. Delta chains may change between two steps.
 *
 * @param keeps whether to use the store's cache: true if the caller also reads the relatives of
 * each artifact, false to read what the file has.
 */
export function* walkArtifacts(
  db: Database,
  store: ContentStore,
  { keeps = false }: { readonly keeps?: boolean } = {},
): Generator<WalkedArtifact> {
  const decode = decoder(store, keeps);
  const done = new Set<number>();
  const tree = new DeltaTree(db);
  const whole = `SELECT rid FROM blob
    WHERE size>=0 AND NOT EXISTS(SELECT 1 FROM delta WHERE delta.rid=blob.rid) ORDER BY rid`;
  for (const { rid } of db.rows<{ rid: number }>(whole)) {
    yield* walkChain(decode, tree, rid, done);
  }
  const all = "SELECT rid FROM blob WHERE size>=0 ORDER BY rid";
  for (const { rid } of db.rows<{ rid: number }>(all)) {
    const walked = done.has(rid) ? null : decode(rid, undefined);
    if (walked !== null) yield walked;
  }
}

function* walkChain(
  decode: Decode,
  tree: DeltaTree,
  start: number,
  done: Set<number>,
): Generator<WalkedArtifact> {
  const stack: { rid: number; source: Uint8Array | null }[] = [{ rid: start, source: null }];
  for (let item = stack.pop(); item !== undefined; item = stack.pop()) {
    const { rid, source } = item;
    done.add(rid);
    const walked = decode(rid, source);
    if (walked === null) continue;
    yield walked;
    if (walked.content === null) continue;
    for (const dependent of tree.dependents(rid).toReversed()) {
      if (!done.has(dependent)) stack.push({ rid: dependent, source: walked.content });
    }
  }
}

/** @param source as `getStored` has it; undefined if the delta chain must be looked up. */
type Decode = (rid: number, source: Uint8Array | null | undefined) => WalkedArtifact | null;

function decoder(store: ContentStore, keeps: boolean): Decode {
  return (rid, source) => {
    try {
      const artifact = source === undefined || store.isTouched(rid)
        ? store.getRow(rid)
        : keeps
        ? store.getKept(rid, source)
        : store.getStored(rid, source);
      return artifact && { rid, ...artifact };
    } catch (error) {
      if (!(error instanceof FossilError)) throw error;
      return { rid, content: null, error };
    }
  };
}

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
    const start = firstIndex(this.#sources.length, (index) => this.#sources[index]! >= rid);
    let end = start;
    while (this.#sources[end] === rid) end++;
    return this.#rids.subarray(start, end);
  }
}

/** Position of every artifact in that order, by row; -1 for rows that do not exist. */
export function rebuildPositions(db: Database): Int32Array {
  const last = db.value<number>("SELECT max(rid) FROM blob") ?? 0;
  const positions = new Int32Array(last + 1).fill(-1);
  const tree = new DeltaTree(db);
  let next = 0;
  const whole = `SELECT rid FROM blob
    WHERE size>=0 AND NOT EXISTS(SELECT 1 FROM delta WHERE delta.rid=blob.rid) ORDER BY rid`;
  for (const { rid: start } of db.rows<{ rid: number }>(whole)) {
    const stack = [start];
    for (let rid = stack.pop(); rid !== undefined; rid = stack.pop()) {
      if (positions[rid] !== -1) continue;
      positions[rid] = next++;
      stack.push(...inBagOrder(tree.dependents(rid)).reverse());
    }
  }
  return positions;
}

const MULTIPLIER = 101;
const SPARE_SLOTS = 20;

/**
 * Rows in the order of the program's hash table of rows (`bag.c`): open addressing; the table grows
 * when it is half full.
 */
function inBagOrder(rids: Iterable<number>): number[] {
  let slots: number[] = [];
  let used = 0;
  for (const rid of rids) {
    if (used + 1 >= Math.floor(slots.length / 2)) {
      const rows = slots.filter((row) => row !== 0);
      slots = new Array<number>(2 * slots.length + SPARE_SLOTS).fill(0);
      for (const row of rows) put(slots, row);
    }
    put(slots, rid);
    used++;
  }
  return slots.filter((row) => row !== 0);
}

function put(slots: number[], rid: number): void {
  let slot = (Math.imul(rid, MULTIPLIER) >>> 0) % slots.length;
  while (slots[slot] !== 0) slot = (slot + 1) % slots.length;
  slots[slot] = rid;
}
