import { hasHash, type Sha3 } from "../codec/mod.ts";
import type { HashCheck, StoredArtifact } from "../content/mod.ts";
import {
  type HashRequest,
  SLOT,
  SLOT_BYTES,
  SLOT_ITEMS,
  type SlotMemory,
} from "./hash_protocol.ts";

const SLOTS = 3;
/** How long the other thread is waited for at the end before its work is done here, in ms. */
const PATIENCE_MS = 5_000;

interface Slot {
  readonly memory: SlotMemory;
  readonly state: Int32Array<SharedArrayBuffer>;
  batch: readonly StoredArtifact[];
}

/**
 * Checks names with the help of a second thread: it gets what it can take, the rest is hashed here.
 * Works without it, too: what it has not answered at the end is hashed once more.
 */
export class HashHelper implements HashCheck, Disposable {
  readonly #sha3: Sha3;
  readonly #worker: Worker;
  readonly #slots = Array.from({ length: SLOTS }, newSlot);

  constructor(sha3: Sha3) {
    this.#sha3 = sha3;
    const url = new URL("./hash_worker.ts", import.meta.url);
    this.#worker = new Worker(url, { type: "module", name: "hashing" });
    this.#worker.onerror = (event) => event.preventDefault();
    this.#send({ kind: "start", slots: this.#slots.map(({ memory }) => memory) });
  }

  #send(request: HashRequest): void {
    this.#worker.postMessage(request);
  }

  check(batch: readonly StoredArtifact[]): string[] {
    const wrong = this.#slots.flatMap((slot) => collect(slot));
    const bytes = batch.reduce((sum, { content }) => sum + content.length, 0);
    const free = this.#slots.findIndex(({ state }) => Atomics.load(state, 0) === SLOT.free);
    const slot = this.#slots[free];
    if (slot === undefined || bytes > SLOT_BYTES || batch.length > SLOT_ITEMS) {
      return [...wrong, ...this.#checkHere(batch)];
    }
    const contents = new Uint8Array(slot.memory.contents);
    let start = 0;
    const items = batch.map(({ hash, content }) => {
      contents.set(content, start);
      start += content.length;
      return { hash, bytes: content.length };
    });
    slot.batch = batch;
    Atomics.store(slot.state, 0, SLOT.given);
    this.#send({ kind: "hash", slot: free, items });
    return wrong;
  }

  finish(): string[] {
    return this.#slots.flatMap((slot) => {
      Atomics.wait(slot.state, 0, SLOT.given, PATIENCE_MS);
      const isLate = Atomics.load(slot.state, 0) === SLOT.given;
      return isLate ? this.#checkHere(slot.batch) : collect(slot);
    });
  }

  #checkHere(batch: readonly StoredArtifact[]): string[] {
    return batch.filter(({ content, hash }) => !hasHash(content, hash, this.#sha3))
      .map(({ hash }) => hash);
  }

  [Symbol.dispose](): void {
    this.#worker.terminate();
  }
}

function newSlot(): Slot {
  const state = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const contents = new SharedArrayBuffer(SLOT_BYTES);
  const verdicts = new SharedArrayBuffer(SLOT_ITEMS);
  return { memory: { state: state.buffer, contents, verdicts }, state, batch: [] };
}

/** Names that the other thread found wrong; the slot is free then. */
function collect(slot: Slot): string[] {
  if (Atomics.load(slot.state, 0) !== SLOT.done) return [];
  const verdicts = new Uint8Array(slot.memory.verdicts);
  const wrong = slot.batch.filter((_, index) => verdicts[index] === 1).map(({ hash }) => hash);
  slot.batch = [];
  Atomics.store(slot.state, 0, SLOT.free);
  return wrong;
}
