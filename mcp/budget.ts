/** Keeps the answer of a tool within a number of characters, and says what is left out. */
import { z } from "zod";
import { Invalid } from "../services/kernel/errors.ts";
import { shortValue } from "./short_values.ts";

/** Characters of an answer by default, at least and at most. */
const DEFAULT_CHARACTERS = 40_000;
const FEWEST_CHARACTERS = 1000;
const MOST_CHARACTERS = 1_000_000;

/** The argument of every tool whose answer can be long. */
export const maxCharsShape = {
  max_chars: z.int().min(FEWEST_CHARACTERS).max(MOST_CHARACTERS).default(DEFAULT_CHARACTERS)
    .describe("Longest answer, in characters"),
};

/** The fields at the end of an answer that says how to read on. */
export const moreShape = {
  more: z.string().optional().describe("What is left out, and how to read it"),
  next: z.record(z.string(), z.unknown()).optional()
    .describe("Change these arguments of the call to read on"),
};

/** The result of a tool as JSON. */
export type Data = Readonly<Record<string, unknown>>;

/** A field of an answer from whose end entries or lines may be left out. */
export interface Cut {
  /** A list, or a text of lines. */
  readonly field: string;
  /** What it holds, such as `check-ins`. */
  readonly noun: string;
  /** How many of them come before those of the answer; 0 by default. */
  readonly first?: number;
  /** How many there are; by default, those before and those of the answer. */
  readonly total?: number;
  /** A text in the entries of a list, which loses lines if one entry alone is too long. */
  readonly within?: Within;
  /** The arguments that read on from a position; absent: only a longer answer shows more. */
  next?(position: number): Data;
  /** Where to find the rest, as a sentence without its end, if no argument leads there. */
  readonly elsewhere?: string;
}

/** A text in the entries of a list. */
export interface Within {
  readonly field: string;
  /**
   * The arguments that read on behind the first lines of an entry's text.
   *
   * @param position how many entries come before this one
   */
  next(position: number, lines: number): Data;
}

/** How an answer is made to fit. */
export interface FitOptions {
  /** Unix milliseconds; null for whole hashes and times. */
  readonly now: number | null;
  /** Whether the call has no `max_chars`, because it has changed something already. */
  readonly isFixed?: boolean;
}

/** Characters that the explanation of what is left out may take: for each cut, and beside them. */
const EXPLANATION_OF_CUT = 150;
const EXPLANATION = 250;

/**
 * Leaves out the ends of lists and texts until the JSON text of an answer fits. Never cuts a line.
 *
 * @param cuts the fields that may be shortened; the first one is shortened first
 * @returns the shortened data, and its JSON with a line for each field and each entry of a list
 * @throws Invalid if the rest alone is too long
 */
export function fit(
  data: Data,
  cuts: readonly Cut[],
  maxCharacters: number,
  { now, isFixed = false }: FitOptions,
): { readonly data: Record<string, unknown>; readonly text: string } {
  const render = renderAt(now);
  const answer = new Answer(data, cuts, { isFixed, render });
  for (const cut of cuts) {
    if (render(answer.explained()).length <= maxCharacters) break;
    answer.shorten(cut, maxCharacters);
  }
  const whole = answer.explained();
  const text = render(whole);
  if (text.length > maxCharacters && !isFixed) {
    const wanted = Math.min(text.length + answer.reserve, MOST_CHARACTERS);
    throw new Invalid(
      `The answer does not fit in ${maxCharacters} characters; set "max_chars" to ${wanted}`,
    );
  }
  return { data: whole, text };
}

/** Where the part of a field ends that an answer shows. */
interface Place {
  readonly cut: Cut;
  readonly first: number;
  readonly position: number;
  readonly total: number;
}

/** How a caller reads on. */
interface WayOn {
  readonly next: Data;
  /** The number of the entry or line that no answer has room for, from 1. */
  readonly skips?: number;
}

/** An answer with the fields that are shortened so far. */
class Answer {
  /** Characters that are kept free for the explanation of what is left out. */
  readonly reserve: number;
  readonly #whole: Data;
  readonly #cuts: readonly Cut[];
  readonly #isFixed: boolean;
  readonly #render: Render;
  /** The lines that the last entry of a list shows of its text, by the list's field. */
  readonly #partial = new Map<string, number>();
  #data: Record<string, unknown>;

  constructor(
    whole: Data,
    cuts: readonly Cut[],
    options: { readonly isFixed: boolean; readonly render: Render },
  ) {
    this.#whole = whole;
    this.#cuts = cuts;
    this.#isFixed = options.isFixed;
    this.#render = options.render;
    this.reserve = EXPLANATION + EXPLANATION_OF_CUT * cuts.length;
    this.#data = { ...whole };
  }

  /** Leaves out the end of a field. */
  shorten({ field, within }: Cut, maxCharacters: number): void {
    const value = this.#data[field];
    const room = maxCharacters - this.reserve - this.#render({ ...this.#data, [field]: [] }).length;
    const kept = typeof value === "string" ? firstLines(value, room) : firstEntries(value, room);
    this.#data = { ...this.#data, [field]: kept };
    if (!Array.isArray(value) || value.length === 0 || kept.length > 0) return;
    const entry = shortenedEntry(value[0], within, room);
    if (entry === null || within === undefined) return;
    this.#data = { ...this.#data, [field]: [entry] };
    this.#partial.set(field, countOf(entry[within.field]));
  }

  /** The data with the fields that say what is left out, if anything is. */
  explained(): Record<string, unknown> {
    const places = this.#cuts.map((cut) => this.#placeOf(cut));
    const left = places.filter((place) => this.#isLeft(place));
    if (left.length === 0) return this.#data;
    const goesOn = left.some((place) => this.#continuationOf(place) !== null);
    const last = left.at(-1);
    const sentences = left.map((place) => this.#sentenceFor(place, goesOn || place !== last));
    const next = goesOn ? this.#continued(places) : this.#longer(last)?.next;
    const more = sentences.join(" ");
    if (next === undefined) return { ...this.#data, more };
    return { ...this.#data, more, next: { ...this.#passed(places), ...next } };
  }

  #placeOf(cut: Cut): Place {
    const first = cut.first ?? 0;
    const position = first + countOf(this.#data[cut.field]);
    return { cut, first, position, total: cut.total ?? first + countOf(this.#whole[cut.field]) };
  }

  #isLeft({ cut, position, total }: Place): boolean {
    return position < total || this.#partial.has(cut.field);
  }

  /** The arguments that read on in a field of which something is shown; null if there are none. */
  #continuationOf({ cut, first, position }: Place): Data | null {
    const lines = this.#partial.get(cut.field);
    if (lines !== undefined) return cut.within?.next(position - 1, lines) ?? null;
    return position === first ? null : cut.next?.(position) ?? null;
  }

  #sentenceFor(place: Place, goesOn: boolean): string {
    const { cut: { noun, elsewhere, within, field }, first, position, total } = place;
    const isNone = position === first;
    const part = this.#partial.has(field)
      ? `, the last one with a part of its ${within?.field}`
      : "";
    const shown = isNone
      ? `Not shown: the remaining ${total - first} ${noun}`
      : `Shown: ${noun} ${first + 1} to ${position} of ${total}${part}`;
    const way = this.#wayOn(place, goesOn);
    if (way !== null) {
      const skipped = way.skips === undefined
        ? ""
        : `, of which number ${way.skips} fits no answer`;
      return `${shown}${skipped}; call again with ${JSON.stringify(way.next)} to read on.`;
    }
    if (elsewhere !== undefined) return `${shown}; ${elsewhere}.`;
    if (this.#isFixed) return `${shown}.`;
    return `${shown}; ${goesOn ? "read on first, or " : ""}raise max_chars to see more.`;
  }

  /** The arguments that read on in all fields; the last field is shortened last, so it goes first. */
  #continued(places: readonly Place[]): Data {
    return places.reduce((next, place) => ({ ...next, ...this.#continuationOf(place) }), {});
  }

  /** The arguments that do not repeat the fields that are shown to their ends. */
  #passed(places: readonly Place[]): Data {
    return places.filter((place) => !this.#isLeft(place) && place.position > place.first)
      .reduce((next, { cut, position }) => ({ ...next, ...cut.next?.(position) }), {});
  }

  /** @param goesOn whether the rest of the answer goes on elsewhere */
  #wayOn(place: Place, goesOn: boolean): WayOn | null {
    const next = this.#continuationOf(place);
    if (next !== null) return { next };
    return goesOn ? null : this.#longer(place);
  }

  /**
   * The way to the next entry or line of a field: an answer that has room for it, or without it.
   *
   * @param place of several fields the last one: it is shortened last, so it is read first
   */
  #longer(place: Place | undefined): WayOn | null {
    if (place === undefined || this.#isFixed || place.cut.elsewhere !== undefined) return null;
    const { cut, first, position } = place;
    const { field } = cut;
    const value = this.#whole[field];
    const wanted = typeof value === "string" ? linesOf(value)[0] : value;
    const shown = Array.isArray(wanted) && cut.next !== undefined ? wanted.slice(0, 1) : wanted;
    const length = this.#render({ ...this.#data, [field]: shown }).length + this.reserve;
    if (length <= MOST_CHARACTERS) return { next: { max_chars: length } };
    if (position !== first || cut.next === undefined) return null;
    return { next: cut.next(position + 1), skips: position + 1 };
  }
}

/** Lines that fit in an answer, and how to read the others. */
interface FittedLines {
  readonly lines: readonly string[];
  readonly more?: string;
  readonly next?: Data;
}

/** Keeps the first lines of a list that fit, and one that says how to read the others. */
export function fitLines(
  lines: readonly string[],
  { offset, maxCharacters }: { readonly offset: number; readonly maxCharacters: number },
): FittedLines {
  let room = maxCharacters - EXPLANATION;
  const kept = lines.findIndex((line, index) => (room -= line.length + 1) < 0 && index > 0);
  if (kept < 0) return { lines };
  const next = { offset: offset + kept };
  const more = `Not shown: ${lines.length - kept} more; call again with ${JSON.stringify(next)}.`;
  return { lines: lines.slice(0, kept), more, next };
}

/** Lines of a text, or entries of a list. */
export function countOf(value: unknown): number {
  if (Array.isArray(value)) return value.length;
  return typeof value === "string" ? linesOf(value).length : 0;
}

/** The lines of a text, each with its end. The text that follows the last end is a line too. */
export function linesOf(text: string): string[] {
  return text.match(/[^\n]+\n?|\n/g) ?? [];
}

/** The first lines that fit in a number of characters, as JSON writes them. */
function firstLines(text: string, room: number): string {
  let rest = room;
  const kept: string[] = [];
  for (const line of linesOf(text)) {
    rest -= JSON.stringify(line).length - 2;
    if (rest < 0) break;
    kept.push(line);
  }
  return kept.join("");
}

/** The first entries of a list that fit in a number of characters, as an answer has them. */
function firstEntries(list: unknown, room: number): unknown[] {
  let rest = room;
  const kept: unknown[] = [];
  for (const entry of Array.isArray(list) ? list : []) {
    rest -= JSON.stringify(entry).length + 2;
    if (rest < 0) break;
    kept.push(entry);
  }
  return kept;
}

/** An entry of a list with a shorter text; null if not even that fits. */
function shortenedEntry(entry: Data, within: Within | undefined, room: number): Data | null {
  if (within === undefined) return null;
  const { field } = within;
  const text = entry[field];
  if (typeof text !== "string") return null;
  const others = JSON.stringify({ ...entry, [field]: "" }).length + 2;
  const kept = firstLines(text, room - others);
  return kept === "" ? null : { ...entry, [field]: kept };
}

/** Writes JSON with a line for each field, and for each entry of a list. */
type Render = (data: Data) => string;

/** @param now Unix milliseconds; null for whole hashes and times */
function renderAt(now: number | null): Render {
  const shorten = (field: string, value: unknown) =>
    now === null ? value : shortValue(field, value, now);
  const write = (value: unknown) => JSON.stringify(value, shorten);
  return (data) => {
    const fields = Object.entries(data).filter(([, value]) => value !== undefined);
    const lines = fields.map(([name, whole]) => {
      const value = shorten(name, whole);
      const text = Array.isArray(value) && value.length > 0
        ? `[\n${value.map(write).join(",\n")}\n]`
        : write(value);
      return `${JSON.stringify(name)}: ${text}`;
    });
    return `{\n${lines.join(",\n")}\n}`;
  };
}
