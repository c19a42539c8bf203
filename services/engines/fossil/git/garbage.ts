/** Defined if the runtime was started with `--expose-gc`. */
const { gc: collect } = globalThis as { gc?: (options?: { type: "minor" }) => void };

/** Bytes of growth since the last collection that start the next one. */
const MIN_GROWTH_BYTES = 8 * 1024 * 1024;
/** The same as a share of the remaining bytes, which bounds the time of all collections. */
const GROWTH = 0.25;

/**
 * Collects garbage more often than V8, which lets buffers take 64 MB, and the heap grow to several
 * times its live size. Work that makes much garbage calls it between two batches.
 */
export class GarbageCollector {
  #kept = 0;

  /** Frees young objects, and all garbage when memory has grown. Takes 2 ms, at times 50. */
  collect(): void {
    if (collect === undefined) return;
    collect({ type: "minor" });
    const used = usedBytes();
    // V8 sweeps in other threads, which may lag, so the remaining size is known only later.
    this.#kept = Math.min(this.#kept, used);
    if (used < this.#kept + Math.max(MIN_GROWTH_BYTES, this.#kept * GROWTH)) return;
    collect();
    this.#kept = usedBytes();
  }
}

/** Frees everything that this thread no longer uses, after work with very large buffers. */
export function collectAll(): void {
  collect?.();
}

/** Bytes that this thread's objects and buffers take. */
function usedBytes(): number {
  const { heapUsed, external } = Deno.memoryUsage();
  return heapUsed + external;
}
