import type { DeltaParts } from "../codec/mod.ts";
import { IntList } from "./int_list.ts";
import type { LineIds, Lines } from "./line_ids.ts";
import { firstIndex } from "../../../kernel/first_index.ts";

const NEWLINE = 0x0a;
const FIRST_BYTES = 256;

/**
 * The lines of a delta's target. Lines that it copies whole keep their numbers; only those that it
 * brings or cuts are looked at.
 */
export class LinePatch implements DeltaParts {
  /** Whether a literal has a NUL. */
  hasNul = false;
  readonly #lineIds: LineIds;
  readonly #source: Lines;
  /** Lines of the source with a line end. */
  readonly #ended: number;
  readonly #ids: IntList;
  readonly #offsets: IntList;
  /** The start of a line whose end is still to come, and where it starts in the target. */
  #open = new Uint8Array(FIRST_BYTES);
  #openLength = 0;
  #openAt = 0;
  #written = 0;

  constructor(lineIds: LineIds, source: Lines) {
    const count = source.ids.length;
    this.#lineIds = lineIds;
    this.#source = source;
    this.#ended = count > 0 && !lineIds.isEnded(source.ids[count - 1]!) ? count - 1 : count;
    this.#ids = new IntList(count + FIRST_BYTES);
    this.#offsets = new IntList(count + FIRST_BYTES);
  }

  copy(start: number, end: number): void {
    if (start === end) return;
    const { ids, offsets } = this.#source;
    let [at, line] = [start, lastUntil(offsets, start)];
    if (this.#openLength > 0 || at > offsets[line]!) {
      const to = Math.min(end, offsets[line + 1]!);
      this.#add(this.#lineIds.bytes(ids[line]!, at - offsets[line]!, to - offsets[line]!));
      [at, line] = [to, line + 1];
      if (at === end) return;
    }
    const stop = Math.min(lastUntil(offsets, end), this.#ended);
    this.#ids.pushAll(ids.subarray(line, stop));
    this.#offsets.pushAll(offsets.subarray(line, stop), this.#written - at);
    const stopAt = offsets[stop]!;
    this.#written += stopAt - at;
    if (stopAt < end) this.#add(this.#lineIds.bytes(ids[stop]!, 0, end - stopAt));
  }

  literal(bytes: Uint8Array): void {
    this.hasNul ||= bytes.includes(0);
    const from = this.#openLength === 0 ? 0 : bytes.indexOf(NEWLINE) + 1 || bytes.length;
    this.#add(bytes.subarray(0, from));
    const to = Math.max(from, bytes.lastIndexOf(NEWLINE) + 1);
    this.#split(bytes.slice(from, to), this.#written);
    this.#written += to - from;
    this.#add(bytes.subarray(to));
  }

  finish(): Lines {
    this.#close();
    this.#offsets.push(this.#written);
    return { ids: this.#ids.finish(), offsets: this.#offsets.finish() };
  }

  /** Adds a part of one line. */
  #add(part: Uint8Array): void {
    if (part.length === 0) return;
    if (this.#openLength === 0) this.#openAt = this.#written;
    const length = this.#openLength + part.length;
    if (length > this.#open.length) {
      const grown = new Uint8Array(2 * length);
      grown.set(this.#open.subarray(0, this.#openLength));
      this.#open = grown;
    }
    this.#open.set(part, this.#openLength);
    this.#openLength = length;
    this.#written += part.length;
    if (part.at(-1) === NEWLINE) this.#close();
  }

  #close(): void {
    this.#split(this.#open.slice(0, this.#openLength), this.#openAt);
    this.#openLength = 0;
  }

  #split(text: Uint8Array, at: number): void {
    const part = { from: 0, to: text.length, shift: at };
    this.#lineIds.split(text, part, this.#ids, this.#offsets);
  }
}

/** The index of the last of rising numbers that is not above a limit; the first is not. */
export function lastUntil(numbers: Int32Array, limit: number): number {
  return firstIndex(numbers.length, (index) => numbers[index]! > limit, 1) - 1;
}
