/** Completes the word before the cursor of a field; the next time, with the next that fits. */
export class NameCompletion {
  readonly #field: HTMLTextAreaElement;
  /** The words to complete, the likeliest first; one may come twice. */
  readonly #words: () => string[];
  /** The words that the last Tab could mean, and the one that it wrote. */
  #choice: { readonly start: number; readonly words: string[]; index: number } | null = null;

  constructor(field: HTMLTextAreaElement, words: () => string[]) {
    this.#field = field;
    this.#words = words;
  }

  /** Forgets the last word, because somebody writes on. */
  end(): void {
    this.#choice = null;
  }

  /** @returns whether there is a word that fits */
  next(): boolean {
    const { value, selectionStart: cursor } = this.#field;
    if (this.#choice === null) {
      const start = /(?<![^\s@])[^\s@]*$/.exec(value.slice(0, cursor))?.index ?? cursor;
      const begun = value.slice(start, cursor).toLowerCase();
      if (begun === "") return false;
      const words = [...new Set(this.#words())]
        .filter((word) => word.toLowerCase().startsWith(begun));
      if (words.length === 0) return false;
      this.#choice = { start, words, index: -1 };
    }
    const { start, words } = this.#choice;
    this.#choice.index = (this.#choice.index + 1) % words.length;
    const word = words[this.#choice.index] ?? "";
    const ending = start === 0 && !/^[/#]/.test(word) ? ": " : " ";
    this.#field.setRangeText(word + ending, start, cursor, "end");
    return true;
  }
}
