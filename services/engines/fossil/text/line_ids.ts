import { IntList } from "./int_list.ts";

/** Initial room, in lines. */
const FIRST_SLOTS = 128;
/** Memory of a line, in bytes, about. */
const LINE_BYTES = 48;
const NEWLINE = 0x0a;
/** Odd, so that no bit of a hash is lost. */
const FACTOR = 0x2c1b3c6d;

/** The lines of a text: the same line has the same number in every text of one `LineTable`. */
export interface Lines {
  /** Number of each line; its line end is part of it. */
  readonly ids: Int32Array;
  /** Where each line begins, and at the end the length of the text. */
  readonly offsets: Int32Array;
}

/**
 * Numbers of lines: equal ones, byte by byte, have the same number, which counts from 0. The hashes
 * depend on chance, so that nobody can make lines that share one.
 */
export class LineIds {
  readonly #noise = crypto.getRandomValues(new Int32Array(256));
  /** By hash: the number of a line and 1, or 0. Its length is a power of two. */
  #slots = new Int32Array(FIRST_SLOTS);
  /** By number. */
  readonly #hashes = new IntList();
  readonly #texts: Uint8Array[] = [];
  readonly #starts = new IntList();
  readonly #ends = new IntList();
  #heldBytes = 0;
  #held: Uint8Array | null = null;

  /** The memory that it takes, with the texts that it refers to, in bytes, about. */
  get heldBytes(): number {
    return this.#heldBytes + LINE_BYTES * this.#texts.length;
  }

  /**
   * Splits a part of a text after each line feed, and adds the number and the start of each line to
   * lists. The text must not change from then on.
   */
  split(text: Uint8Array, part: Part, ids: IntList, starts: IntList): void {
    const { from, to, shift } = part;
    const noise = this.#noise;
    for (let start = from; start < to;) {
      let [hash, end] = [0, start];
      while (end < to) {
        const byte = text[end++]!;
        hash = Math.imul(hash ^ (hash >>> 15) ^ noise[byte]!, FACTOR);
        if (byte === NEWLINE) break;
      }
      ids.push(this.#idOf(hash ^ (hash >>> 15), text, start, end));
      starts.push(start + shift);
      start = end;
    }
  }

  #idOf(hash: number, text: Uint8Array, start: number, end: number): number {
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    for (let id = this.#slots[slot]! - 1; id >= 0; id = this.#slots[slot]! - 1) {
      if (this.#hashes.at(id) === hash && this.#isLine(id, text, start, end)) return id;
      slot = (slot + 1) & mask;
    }
    const id = this.#texts.length;
    this.#slots[slot] = id + 1;
    this.#hashes.push(hash);
    this.#texts.push(text);
    this.#starts.push(start);
    this.#ends.push(end);
    if (text !== this.#held) this.#heldBytes += text.length;
    this.#held = text;
    if (2 * this.#texts.length > mask) this.#grow();
    return id;
  }

  #isLine(id: number, text: Uint8Array, start: number, end: number): boolean {
    const known = this.#texts[id]!;
    const shift = this.#starts.at(id) - start;
    if (this.#ends.at(id) - end !== shift) return false;
    for (let at = start; at < end; at++) if (known[at + shift] !== text[at]) return false;
    return true;
  }

  #grow(): void {
    const slots = new Int32Array(4 * this.#slots.length);
    const mask = slots.length - 1;
    for (let id = 0; id < this.#texts.length; id++) {
      let slot = this.#hashes.at(id) & mask;
      while (slots[slot] !== 0) slot = (slot + 1) & mask;
      slots[slot] = id + 1;
    }
    this.#slots = slots;
  }

  /** Whether a line ends with a line feed. */
  isEnded(id: number): boolean {
    return this.#texts[id]![this.#ends.at(id) - 1] === NEWLINE;
  }

  /** The bytes of a line, or of its part from an offset to another. */
  bytes(id: number, from = 0, to = this.#ends.at(id) - this.#starts.at(id)): Uint8Array {
    const start = this.#starts.at(id);
    return this.#texts[id]!.subarray(start + from, start + to);
  }
}

/** A part of a text, and how much later its lines begin elsewhere. */
export interface Part {
  readonly from: number;
  readonly to: number;
  readonly shift: number;
}
