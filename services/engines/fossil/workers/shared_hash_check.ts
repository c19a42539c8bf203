import { encodeUtf8, hasHash, type Sha3 } from "../codec/mod.ts";
import type { HashCheck, StoredArtifact } from "../content/mod.ts";
import {
  type HashMemory,
  type HashSlot,
  NAME_BYTES,
  SLOT_BYTES,
  SLOT_ITEMS,
  TURN,
} from "./hash_protocol.ts";

/** Time to wait for the other thread at the end before doing its work here, in milliseconds. */
const PATIENCE_MS = 5_000;

/**
 * Checks names with the help of a second thread: it gets as much as it can take; the rest is hashed
 * here. Works without it too: unanswered contents are hashed again at the end.
 */
export class SharedHashCheck implements HashCheck {
  readonly #memory: HashMemory;
  readonly #sha3: Sha3;
  /** Contents whose result was not collected yet. */
  readonly #given = new Map<HashSlot, readonly StoredArtifact[]>();

  constructor(memory: HashMemory, sha3: Sha3) {
    this.#memory = memory;
    this.#sha3 = sha3;
  }

  check(batch: readonly StoredArtifact[]): string[] {
    const wrong = [...this.#given.keys()].flatMap((slot) => this.#collect(slot));
    const bytes = batch.reduce((sum, { content }) => sum + content.length, 0);
    const isThere = Atomics.load(this.#memory.isThere, 0) === 1;
    const free = isThere && this.#memory.slots.find((slot) => !this.#given.has(slot));
    if (free === false || free === undefined || bytes > SLOT_BYTES || batch.length > SLOT_ITEMS) {
      return [...wrong, ...this.#checkHere(batch)];
    }
    this.#give(free, batch);
    return wrong;
  }

  finish(): string[] {
    return [...this.#given].flatMap(([slot, batch]) => {
      Atomics.wait(slot.state, 0, TURN.given, PATIENCE_MS);
      const isLate = Atomics.load(slot.state, 0) === TURN.given;
      return isLate ? this.#checkHere(batch) : this.#collect(slot);
    });
  }

  #give(slot: HashSlot, batch: readonly StoredArtifact[]): void {
    const { state, contents, lengths, names } = slot;
    names.fill(0, 0, batch.length * NAME_BYTES);
    let start = 0;
    for (const [i, { hash, content }] of batch.entries()) {
      contents.set(content, start);
      lengths[i] = content.length;
      names.set(encodeUtf8(hash).subarray(0, NAME_BYTES), i * NAME_BYTES);
      start += content.length;
    }
    this.#given.set(slot, batch);
    Atomics.store(state, 1, batch.length);
    Atomics.store(state, 0, TURN.given);
    Atomics.add(this.#memory.signal, 0, 1);
    Atomics.notify(this.#memory.signal, 0);
  }

  /** Names that the other thread found wrong, once it is done with a slot. */
  #collect(slot: HashSlot): string[] {
    if (Atomics.load(slot.state, 0) !== TURN.done) return [];
    const batch = this.#given.get(slot) ?? [];
    this.#given.delete(slot);
    Atomics.store(slot.state, 0, TURN.free);
    return batch.filter((_, index) => slot.verdicts[index] === 1).map(({ hash }) => hash);
  }

  #checkHere(batch: readonly StoredArtifact[]): string[] {
    return batch.filter(({ content, hash }) => !hasHash(content, hash, this.#sha3))
      .map(({ hash }) => hash);
  }
}
