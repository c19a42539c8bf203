import { FossilError } from "../error.ts";
import type { Database } from "./database.ts";
import { DeltaTree } from "./delta_tree.ts";
import type { ContentStore } from "./store.ts";
import type { StoredArtifact } from "./store_types.ts";

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
