import type { Child } from "hono/jsx";
import { raw } from "hono/html";
import { nextTurn } from "../../services/kernel/pieces.ts";

/** How long a slice takes, in milliseconds. */
const SLICE = 1;

/** Rows from one look at the clock to the next. */
const STRIDE = 16;

/** Renders the long lists of one page in slices, between which the thread does other work. */
export class Slices {
  readonly #clock: () => number;
  #end: number;

  /** @param clock milliseconds from any starting point */
  constructor(clock = () => performance.now()) {
    this.#clock = clock;
    this.#end = clock() + SLICE;
  }

  /** The rows, rendered one after the other. */
  async render<Row>(
    rows: readonly Row[],
    show: (row: Row, index: number) => Child,
  ): Promise<Child> {
    const texts: string[] = [];
    for (let start = 0; start < rows.length; start += STRIDE) {
      const shown = rows.slice(start, start + STRIDE).map((row, i) => show(row, start + i));
      texts.push(String(await (<>{shown}</>).toString()));
      await this.pause();
    }
    return raw(texts.join(""));
  }

  /** Ends the slice if it has taken its time. */
  async pause(): Promise<void> {
    if (this.#clock() < this.#end) return;
    await nextTurn();
    this.#end = this.#clock() + SLICE;
  }
}
