import { decodeUtf8 } from "../codec/mod.ts";

/** Thrown inside the parser; the caller of the parser sees a value, never this. */
export class CardError extends Error {
  override readonly name = "CardError";
}

const NEWLINE = 0x0a;
const NUL_OR_SPACE = /[ \0]/;

/** One card: its letter and its tokens, still escaped. */
export interface Card {
  readonly letter: string;
  readonly tokens: readonly string[];
}

/** A line as a card. */
export function cardOf(line: string): Card {
  const letter = line.charAt(0);
  if (letter < "A" || letter > "Z") throw new CardError("A card has no letter");
  if (line.length === 1) return { letter, tokens: [] };
  if (line.charAt(1) !== " ") throw new CardError(`Card "${letter}" is not a single letter`);
  const rest = line.slice(2);
  return { letter, tokens: rest.split(rest.includes("\0") ? NUL_OR_SPACE : " ") };
}

/**
 * Walks the cards of an artifact. A card is a line: a letter, and tokens that are each preceded by
 * one space. NUL ends a token too, as in a C string.
 */
export class CardReader {
  readonly #bytes: Uint8Array;
  /** The whole artifact as text, one character per byte: decoded once, not line by line. */
  readonly #text: string | null;
  #position = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    const text = decodeUtf8(bytes);
    this.#text = text.length === bytes.length ? text : null;
  }

  /** The next card as a line without its end, or null at the end. */
  line(): string | null {
    if (this.#position >= this.#bytes.length) return null;
    const start = this.#position;
    const end = this.#text === null
      ? this.#bytes.indexOf(NEWLINE, start)
      : this.#text.indexOf("\n", start);
    if (end < 0) throw new CardError("Last line has no end");
    this.#position = end + 1;
    return this.#text?.slice(start, end) ?? decodeUtf8(this.#bytes.subarray(start, end));
  }

  /**
   * Text of `length` bytes, followed by a line end. Drops everything after a NUL, as Fossil's C
   * strings do.
   */
  text(length: number): string {
    const end = this.#position + length;
    if (end + 1 >= this.#bytes.length) throw new CardError("Text is cut short");
    if (this.#bytes[end] !== NEWLINE) throw new CardError("Text has no end");
    const bytes = this.#bytes.subarray(this.#position, end);
    this.#position = end + 1;
    const nul = bytes.indexOf(0);
    return decodeUtf8(nul < 0 ? bytes : bytes.subarray(0, nul));
  }
}
