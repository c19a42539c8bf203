/**
 * Memory by which one thread has another hash for it. No messages: whoever decodes a repository reads
 * none until it is done, and in Deno 2.9 a worker of a worker starts half a second late, so that
 * the main thread starts both.
 */

/** Bytes of contents that lie in one slot at most. */
export const SLOT_BYTES = 2 * 1024 * 1024;
/** Contents in one slot at most. */
export const SLOT_ITEMS = 4096;
/** Bytes that a name takes: 64 digits, or 40 and zeros. */
export const NAME_BYTES = 64;
const SLOTS = 3;

/** Whose turn it is with a slot. */
export const TURN = { free: 0, given: 1, done: 2 } as const;

/** What both threads share. */
export interface HashMemory {
  /** Counts what was given; who hashes waits for it to change. -1 when no more comes. */
  readonly signal: Int32Array<SharedArrayBuffer>;
  readonly slots: readonly HashSlot[];
}

/** Room for some contents. */
export interface HashSlot {
  /** One number of {@link TURN}, then how many contents there are. */
  readonly state: Int32Array<SharedArrayBuffer>;
  /** Contents, one after the other, and the length of each. */
  readonly contents: Uint8Array<SharedArrayBuffer>;
  readonly lengths: Int32Array<SharedArrayBuffer>;
  readonly names: Uint8Array<SharedArrayBuffer>;
  /** 1 for each content that does not have its name. */
  readonly verdicts: Uint8Array<SharedArrayBuffer>;
}

/** Makes the memory. */
export function newHashMemory(): HashMemory {
  return { signal: integers(1), slots: Array.from({ length: SLOTS }, newSlot) };
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
