import { hasHash, type Sha3 } from "../codec/mod.ts";
import type { Database } from "./database.ts";
import type { ContentStore } from "./store.ts";
import type { StoredArtifact } from "./store_types.ts";
import { walkArtifacts } from "./walk.ts";

/** An artifact whose content does not have its hash. */
export interface Damage {
  readonly hash: string;
  readonly reason: string;
}

/** Called from time to time with the number of artifacts done, and the total. */
export type Progress = (done: number, total: number) => void;

/** Artifacts between two calls of `Progress`. */
const PROGRESS_STEP = 500;

/** Bytes between two calls of `Progress`, if the artifacts are large. */
const PROGRESS_BYTES = 16 * 1024 * 1024;

/** Calls `Progress` after so many artifacts, or so many bytes. */
export class ProgressSteps {
  readonly #progress: Progress;
  readonly #total: number;
  #done = 0;
  #bytes = 0;

  constructor(progress: Progress, total: number) {
    this.#progress = progress;
    this.#total = total;
  }

  /** Counts an artifact of so many bytes. */
  step(bytes: number): void {
    this.#bytes += bytes;
    if (++this.#done % PROGRESS_STEP !== 0 && this.#bytes < PROGRESS_BYTES) return;
    this.#bytes = 0;
    this.#progress(this.#done, this.#total);
  }
}

/** Bytes hashed at a time. */
const BATCH_BYTES = 1024 * 1024;

/** Checks contents against their names, at once or in another thread. */
export interface HashCheck {
  /** Takes contents; returns the names found wrong so far. */
  check(batch: readonly StoredArtifact[]): string[];
  /** Waits for the end; returns the names found wrong since. */
  finish(): string[];
}

/** Options of `verifyArtifacts`. */
export interface VerifyOptions {
  readonly progress?: Progress;
  readonly hashes?: HashCheck;
}

/** Checks contents at once. */
export function hashingHere(sha3?: Sha3): HashCheck {
  return {
    check: (batch) =>
      batch.filter(({ content, hash }) => !hasHash(content, hash, sha3)).map(({ hash }) => hash),
    finish: () => [],
  };
}

/** Decodes and hashes every artifact. Returns what is damaged. */
export function verifyArtifacts(
  db: Database,
  store: ContentStore,
  { progress = () => {}, hashes = hashingHere() }: VerifyOptions = {},
): Damage[] {
  const damages: Damage[] = [];
  const wrong = (names: readonly string[]) => {
    const reason = "Content does not have its hash";
    damages.push(...names.map((hash) => ({ hash, reason })));
  };
  const total = db.value<number>("SELECT count(*) FROM blob WHERE size>=0") ?? 0;
  const steps = new ProgressSteps(progress, total);
  let [batch, bytes]: [StoredArtifact[], number] = [[], 0];
  for (const walked of walkArtifacts(db, store)) {
    steps.step(walked.content?.length ?? 0);
    if (walked.content === null) {
      damages.push({ hash: store.hashOf(walked.rid) ?? "", reason: walked.error.message });
      continue;
    }
    if (walked.size !== walked.content.length) {
      damages.push({ hash: walked.hash, reason: "Content does not have its size" });
      continue;
    }
    batch.push(walked);
    bytes += walked.content.length;
    if (bytes < BATCH_BYTES) continue;
    wrong(hashes.check(batch));
    [batch, bytes] = [[], 0];
  }
  wrong(hashes.check(batch));
  wrong(hashes.finish());
  return damages;
}
