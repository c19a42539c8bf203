/** A full collection of V8. */
type Collect = (options: {
  readonly type: "major";
  readonly execution: "sync";
  readonly flavor: "last-resort";
}) => void;

/**
 * Gives back the memory that the start used and nobody needs now. V8 alone would keep it until the
 * program has allocated as much again, which takes hours while nobody uses it.
 *
 * It holds the calling thread for 0.1 to 0.3 s, so call it only while nobody waits. Without the flag
 * `--expose-gc` it does nothing.
 */
export function releaseStartMemory(): void {
  const { gc: collect } = globalThis as { gc?: Collect };
  // Other kinds of collection leave the pages of the heap as they are, half empty.
  collect?.({ type: "major", execution: "sync", flavor: "last-resort" });
}
