/**
 * Tells one task that it need not wait any longer. An `AbortSignal` would say the same, in several
 * times the memory, for each of thousands that wait.
 */
export class EarlyEnd {
  #isOver = false;
  /** Called at the end, once; null for nothing. */
  onEnd: (() => void) | null = null;

  /** Whether it has come. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Ends the waiting. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.onEnd?.();
  }
}
