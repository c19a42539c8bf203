import { hasHash } from "../codec/mod.ts";
import { FossilError } from "../error.ts";
import type { Database } from "./database.ts";
import type { ContentStore } from "./store.ts";

/** An artifact with its bytes, or with the reason why these cannot be had. */
export type WalkedArtifact =
  | { readonly rid: number; readonly content: Uint8Array }
  | { readonly rid: number; readonly content: null; readonly error: FossilError };

/**
 * Goes through all artifacts along the delta chains: a delta is applied to the bytes of its source
 * while these are at hand, which is a hundred times quicker than one by one. Phantoms, and deltas
 * that hang on one, are left out. Delta chains may be changed between two steps.
 */
export function* walkArtifacts(db: Database, store: ContentStore): Generator<WalkedArtifact> {
  const done = new Set<number>();
  const queries = [
    `SELECT rid FROM blob
      WHERE size>=0 AND NOT EXISTS(SELECT 1 FROM delta WHERE delta.rid=blob.rid) ORDER BY rid`,
    "SELECT rid FROM blob WHERE size>=0 ORDER BY rid",
  ];
  for (const query of queries) {
    for (const { rid } of db.rows<{ rid: number }>(query)) {
      if (!done.has(rid)) yield* walkChain(store, rid, done);
    }
  }
}

function* walkChain(
  store: ContentStore,
  start: number,
  done: Set<number>,
): Generator<WalkedArtifact> {
  const stack: { rid: number; source: Uint8Array | null }[] = [{ rid: start, source: null }];
  for (let item = stack.pop(); item !== undefined; item = stack.pop()) {
    const { rid, source } = item;
    done.add(rid);
    const walked = decode(store, rid, source);
    if (walked === null) continue;
    yield walked;
    if (walked.content === null) continue;
    for (const dependent of store.dependents(rid).toReversed()) {
      if (!done.has(dependent)) stack.push({ rid: dependent, source: walked.content });
    }
  }
}

function decode(
  store: ContentStore,
  rid: number,
  source: Uint8Array | null,
): WalkedArtifact | null {
  try {
    const content = source === null ? store.get(rid) : store.applyStored(rid, source);
    return content === null ? null : { rid, content };
  } catch (error) {
    if (!(error instanceof FossilError)) throw error;
    return { rid, content: null, error };
  }
}

/** An artifact that is not what its name says. */
export interface Damage {
  readonly hash: string;
  readonly reason: string;
}

/** Called now and then with the number of artifacts done, and how many there are. */
export type Progress = (done: number, total: number) => void;

/** Between two calls of `Progress`. */
export const PROGRESS_STEP = 500;

/** Decodes and hashes every artifact. Gives what is damaged. */
export function verifyArtifacts(
  db: Database,
  store: ContentStore,
  progress: Progress = () => {},
): Damage[] {
  const damages: Damage[] = [];
  const total = db.value<number>("SELECT count(*) FROM blob WHERE size>=0") ?? 0;
  let done = 0;
  for (const walked of walkArtifacts(db, store)) {
    if (++done % PROGRESS_STEP === 0) progress(done, total);
    const hash = store.hashOf(walked.rid) ?? "";
    if (walked.content === null) damages.push({ hash, reason: walked.error.message });
    else if (!hasHash(walked.content, hash)) {
      damages.push({ hash, reason: "Content does not have its hash" });
    } else if (store.sizeOf(walked.rid) !== walked.content.length) {
      damages.push({ hash, reason: "Content does not have its size" });
    }
  }
  return damages;
}
