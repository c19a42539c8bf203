/**
 * Shared memory through which one thread lets another hash for it. They exchange no messages,
 * because a thread that decodes a repository reads none until it is done. A worker of a worker may
 * start half a second late, or not at all: what comes before is hashed by the first thread.
 */

/** Most bytes of contents in one slot. */
export const SLOT_BYTES = 2 * 1024 * 1024;
/** Most contents in one slot. */
export const SLOT_ITEMS = 4096;
/** Bytes of a name: 64 digits, or 40 and zeros. */
export const NAME_BYTES = 64;
const SLOTS = 3;

/** Whose turn it is with a slot. */
export const TURN = { free: 0, given: 1, done: 2 } as const;

/** The shared memory. */
export interface HashMemory {
  /** 1 once the hashing thread is there. */
  readonly isThere: Int32Array<SharedArrayBuffer>;
  /** Number of filled slots; the hashing thread waits for a change. -1 at the end. */
  readonly signal: Int32Array<SharedArrayBuffer>;
  readonly slots: readonly HashSlot[];
}

/** Room for some contents. */
export interface HashSlot {
  /** One number of {@link TURN}, then the number of contents. */
  readonly state: Int32Array<SharedArrayBuffer>;
  /** Contents, one after the other, and the length of each. */
  readonly contents: Uint8Array<SharedArrayBuffer>;
  readonly lengths: Int32Array<SharedArrayBuffer>;
  readonly names: Uint8Array<SharedArrayBuffer>;
  /** 1 for each content that does not have its name. */
  readonly verdicts: Uint8Array<SharedArrayBuffer>;
}

/** Makes the memory. */
function newHashMemory(): HashMemory {
  return {
    isThere: integers(1),
    signal: integers(1),
    slots: Array.from({ length: SLOTS }, newSlot),
  };
}

function newSlot(): HashSlot {
  return {
    state: integers(2),
    contents: new Uint8Array(new SharedArrayBuffer(SLOT_BYTES)),
    lengths: integers(SLOT_ITEMS),
    names: new Uint8Array(new SharedArrayBuffer(SLOT_ITEMS * NAME_BYTES)),
    verdicts: new Uint8Array(new SharedArrayBuffer(SLOT_ITEMS)),
  };
}

function integers(count: number): Int32Array<SharedArrayBuffer> {
  return new Int32Array(new SharedArrayBuffer(count * Int32Array.BYTES_PER_ELEMENT));
}

/** A thread that hashes for another one; they share `memory`. */
export class HashHelper implements Disposable {
  readonly memory: HashMemory = newHashMemory();
  readonly #worker: Worker;

  constructor() {
    const url = new URL("./hash_worker.ts", import.meta.url);
    this.#worker = new Worker(url, { type: "module", name: "hashing" });
    // Its user works without it if it is missing.
    this.#worker.onerror = (event) => event.preventDefault();
    this.#worker.postMessage(this.memory);
  }

  /** Ends the thread. */
  [Symbol.dispose](): void {
    Atomics.store(this.memory.signal, 0, -1);
    Atomics.notify(this.memory.signal, 0);
    this.#worker.terminate();
  }
}
