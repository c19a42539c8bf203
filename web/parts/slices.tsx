import type { Child } from "hono/jsx";
import { raw } from "hono/html";
import { Pauses } from "../../services/kernel/pieces.ts";

/** Rows from one look at the clock to the next. */
const STRIDE = 16;

/** Renders the long lists of one page in slices, between which the thread does other work. */
export class Slices {
  readonly #pauses: Pauses;

  /** @param clock milliseconds from any starting point */
  constructor(clock?: () => number) {
    this.#pauses = new Pauses(clock);
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
      if (this.#pauses.isDue) await this.#pauses.pause();
    }
    return raw(texts.join(""));
  }
}
