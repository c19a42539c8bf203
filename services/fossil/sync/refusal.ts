import { FossilError } from "../error.ts";

/**
 * Artifacts of a push that cannot be judged yet, because they depend on others that the push has not
 * brought. Clients send artifacts in any order, over several messages.
 */
export class Premature extends FossilError {
  readonly hashes: readonly string[];

  constructor(hashes: readonly string[], sentence: string) {
    super("conflict", sentence);
    this.hashes = hashes;
  }
}

/** A refusal of the judge: the transaction is rolled back, and the client gets the sentence. */
export function refused(sentence: string): FossilError {
  return new FossilError("conflict", sentence);
}
