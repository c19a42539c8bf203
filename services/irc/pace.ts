import { setImmediate } from "node:timers";

/** How long the long answers of one turn of the event loop may compute in all, in milliseconds. */
const SLICE = 4;

/** Calls from one look at the clock to the next. */
const STRIDE = 16;

/**
 * Long answers, such as that to `LIST *`, are computed in slices. All clients share the time of a
 * turn, so that many clients with long answers delay others no more than one does.
 */
export class Pace {
  readonly #waiting: (() => void)[] = [];
  /** When the time of this turn is used up; null if nothing long has begun in it. */
  #end: number | null = null;
  #calls = 0;

  /**
   * Called for each step of a long answer.
   *
   * @returns a promise to wait for if the time of this turn is used up; else null
   */
  step(): Promise<void> | null {
    if (this.#end === null) {
      this.#end = performance.now() + SLICE;
      this.#nextTurn();
      return null;
    }
    if (this.#calls++ % STRIDE !== 0 || performance.now() < this.#end) return null;
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #nextTurn(): void {
    setImmediate(() => {
      this.#end = null;
      this.#calls = 0;
      // One answer goes on in each turn: with all at once, each would take a step beyond the time.
      const resume = this.#waiting.shift();
      if (resume === undefined) return;
      this.#end = performance.now() + SLICE;
      this.#nextTurn();
      resume();
    });
  }
}
