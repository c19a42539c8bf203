/** Between two lines, in milliseconds. */
const INTERVAL_MS = 100;

/** Shows on the terminal how far long work is; shows nothing if standard error is none. */
export class TerminalProgress implements Disposable {
  readonly #isShown = Deno.stderr.isTerminal();
  #shownAt = 0;
  #width = 0;

  /** @param total null while it is not known. */
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
    Deno.stderr.writeSync(new TextEncoder().encode(text));
  }

  /** Leaves an empty line. */
  [Symbol.dispose](): void {
    if (this.#width === 0) return;
    this.#write("");
    this.#write("");
  }
}
