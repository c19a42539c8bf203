/** What a thread that hashes for another shares with it. */

/** Bytes of contents that lie in one slot at most. */
export const SLOT_BYTES = 2 * 1024 * 1024;
/** Contents in one slot at most. */
export const SLOT_ITEMS = 4096;

/** What the Int32 at the start of a slot says: whose turn it is. */
export const SLOT = { free: 0, given: 1, done: 2 } as const;

/** Shared memory of one slot. */
export interface SlotMemory {
  /** One Int32, as {@link SLOT} has it. */
  readonly state: SharedArrayBuffer;
  /** Contents, one after the other. */
  readonly contents: SharedArrayBuffer;
  /** One byte for each content: 1 where it does not have its name. */
  readonly verdicts: SharedArrayBuffer;
}

/** A content as it lies in a slot. */
export interface HashItem {
  readonly hash: string;
  readonly bytes: number;
}

/** The first message has the slots; each later one says what is in one of them. */
export type HashRequest =
  | { readonly kind: "start"; readonly slots: readonly SlotMemory[] }
  | { readonly kind: "hash"; readonly slot: number; readonly items: readonly HashItem[] };
