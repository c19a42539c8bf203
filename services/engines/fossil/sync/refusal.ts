import { FossilError } from "../error.ts";

/** An artifact of a push that is not stored. */
export interface Refusal {
  readonly hash: string;
  /** Says why. */
  readonly sentence: string;
  /** Artifacts that it needs and that are not here; empty if the judge refuses it as it is. */
  readonly missing: readonly string[];
  /** A list of names for transport: nobody misses it, only what it names. */
  readonly isCluster?: boolean;
}

/** A refusal of the judge: the transaction is rolled back, and the client gets the sentence. */
export function refused(sentence: string): FossilError {
  return new FossilError("conflict", sentence);
}

/** Artifacts that keep a push from being stored whole. Without them, the rest is judged anew. */
export class LeftOut extends FossilError {
  readonly refusals: readonly Refusal[];

  constructor(refusals: readonly Refusal[]) {
    super("conflict", refusals[0]?.sentence ?? "");
    this.refusals = refusals;
  }
}

/** Collects refusals, so that one attempt finds as many as it can. */
export class Refusals {
  readonly #all = new Map<string, Refusal>();

  /** Runs a rule for artifacts; a refusal is noted for each of them instead of thrown. */
  collect(hashes: readonly string[], rule: () => void): void {
    try {
      rule();
    } catch (error) {
      if (!(error instanceof FossilError) || error.code !== "conflict") throw error;
      if (hashes.length === 0) throw error;
      for (const hash of hashes) this.add({ hash, sentence: error.message, missing: [] });
    }
  }

  /** Notes a refusal; the first one of an artifact counts. */
  add(refusal: Refusal): void {
    if (!this.#all.has(refusal.hash)) this.#all.set(refusal.hash, refusal);
  }

  /** @throws {LeftOut} if there are any */
  throwAny(): void {
    if (this.#all.size > 0) throw new LeftOut([...this.#all.values()]);
  }
}
