/** Shortest time between two updates, in milliseconds. */
const INTERVAL_MS = 100;

/** Shows the progress of long work on the terminal; nothing if standard error is not a terminal. */
export class TerminalProgress implements Disposable {
  readonly #isShown = Deno.stderr.isTerminal();
  #shownAt = 0;
  #width = 0;

  /** @param total null while it is unknown. */
  show(what: string, done: number, total: number | null): void {
    const now = performance.now();
    if (!this.#isShown || now - this.#shownAt < INTERVAL_MS) return;
    this.#shownAt = now;
    const count = done.toLocaleString("en-GB");
    this.#write(
      total === null ? `${what} ${count}` : `${what} ${count} of ${total.toLocaleString("en-GB")}`,
    );
  }

  #write(line: string): void {
    const text = `\r${line.padEnd(this.#width)}`;
    this.#width = line.length;
    try {
      Deno.stderr.writeSync(new TextEncoder().encode(text));
    } catch {
      // The work goes on, even if nobody sees how far it is.
    }
  }

  /** Clears the line. */
  [Symbol.dispose](): void {
    if (this.#width === 0) return;
    this.#write("");
    this.#write("");
  }
}
