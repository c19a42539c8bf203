/** Texts that one can take up again, the newest last. */
const MAX_SENT = 50;

/** What one wrote on a page: a draft, and what was sent. It lasts as long as the browser's tab. */
export class ComposerMemory {
  readonly #draftKey = `draft ${location.pathname}`;
  readonly #sentKey = `sent ${location.pathname}`;
  /** The place in what was sent; null outside of it. */
  #place: number | null = null;
  /** What was in the field before one went back. */
  #unsent = "";

  /** The text that was not sent. */
  get draft(): string {
    return sessionStorage.getItem(this.#draftKey) ?? "";
  }

  /** Keeps what is in the field. */
  keep(text: string): void {
    this.#place = null;
    if (text === "") sessionStorage.removeItem(this.#draftKey);
    else sessionStorage.setItem(this.#draftKey, text);
  }

  /** Notes a text that was sent. */
  sent(text: string): void {
    const texts = this.#sent().filter((other) => other !== text);
    sessionStorage.setItem(this.#sentKey, JSON.stringify([...texts, text].slice(-MAX_SENT)));
    this.keep("");
  }

  /**
   * The text before, or after, the one in the field; null at the end.
   *
   * @param now what is in the field
   */
  step(by: -1 | 1, now: string): string | null {
    const texts = this.#sent();
    if (this.#place === null) this.#unsent = now;
    const place = (this.#place ?? texts.length) + by;
    if (place < 0 || place > texts.length) return null;
    this.#place = place;
    return texts[place] ?? this.#unsent;
  }

  #sent(): string[] {
    const stored: unknown = JSON.parse(sessionStorage.getItem(this.#sentKey) ?? "[]");
    return Array.isArray(stored) ? stored.map(String) : [];
  }
}
