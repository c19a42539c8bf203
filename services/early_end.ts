/**
 * Tells one task that it need not wait any longer. An `AbortSignal` would say the same, in several
 * times the memory, for each of thousands that wait.
 */
export class EarlyEnd {
  #isOver = false;
  #onEnd: (() => void) | null = null;

  /** Whether it has come. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Sets what is called at the end, once; null for nothing any more. */
  set onEnd(onEnd: (() => void) | null) {
    this.#onEnd = onEnd;
  }

  /** Ends the waiting. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#onEnd?.();
  }
}
