/** Keeps the answer of a tool within a number of characters, and says what is left out. */
import { z } from "zod";
import { Invalid } from "../../services/errors.ts";

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
  /** The arguments that read on from a position; absent: only a larger `max_chars` shows more. */
  next?(position: number): Data;
}

/** A text in the entries of a list. */
export interface Within {
  readonly field: string;
  /** The arguments that read on behind the first lines of an entry's text. */
  next?(entry: Data, lines: number): Data;
}

/** Characters that the explanation of what is left out may take. */
const EXPLANATION = 500;

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
): { readonly data: Record<string, unknown>; readonly text: string } {
  let shortened: Record<string, unknown> = { ...data };
  const partial: string[] = [];
  let excess = lengthOf(explained(shortened, cuts, partial)) - maxCharacters;
  for (const cut of cuts) {
    if (excess <= 0) break;
    const room = maxCharacters - EXPLANATION - lengthOf({ ...shortened, [cut.field]: [] });
    const value = shortened[cut.field];
    const kept = typeof value === "string" ? firstLines(value, room) : firstEntries(value, room);
    shortened = { ...shortened, [cut.field]: kept };
    if (Array.isArray(value) && Array.isArray(kept) && kept.length === 0 && value.length > 0) {
      const entry = shortenedEntry(value[0], cut.within, room);
      if (entry !== null) {
        shortened = { ...shortened, [cut.field]: [entry] };
        partial.push(partialSentence(cut, entry));
      }
    }
    excess = lengthOf(explained(shortened, cuts, partial)) - maxCharacters;
  }
  if (excess > 0) {
    throw new Invalid(
      `The answer does not fit in ${maxCharacters} characters; ` +
        `set "max_chars" to ${Math.min(maxCharacters + excess + EXPLANATION, MOST_CHARACTERS)}`,
    );
  }
  const whole = explained(shortened, cuts, partial);
  return { data: whole, text: render(whole) };
}

/** The data with the fields that say what is left out, if anything is. */
function explained(
  data: Record<string, unknown>,
  cuts: readonly Cut[],
  partial: readonly string[],
): Record<string, unknown> {
  const sentences = [...partial];
  let next: Data = {};
  for (const cut of cuts) {
    const { field, noun, first = 0 } = cut;
    const position = first + countOf(data[field]);
    const total = cut.total ?? position;
    if (position >= total) continue;
    const isNone = position === first;
    const continuation = isNone ? undefined : cut.next?.(position);
    const shown = isNone
      ? `None of the remaining ${total - first} ${noun} fits`
      : `Shown: ${noun} ${first + 1} to ${position} of ${total}`;
    const advice = continuation === undefined
      ? "raise max_chars to see more"
      : `call again with ${JSON.stringify(continuation)} to read on`;
    sentences.push(`${shown}; ${advice}.`);
    next = { ...next, ...continuation };
  }
  if (sentences.length === 0) return data;
  const more = sentences.join(" ");
  return Object.keys(next).length === 0 ? { ...data, more } : { ...data, more, next };
}

/** Lines of a text, or entries of a list. */
export function countOf(value: unknown): number {
  if (Array.isArray(value)) return value.length;
  return typeof value === "string" ? linesOf(value).length : 0;
}

/** The lines of a text, each with its end. The text that follows the last end is a line too. */
export function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
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

/** The first entries of a list that fit in a number of characters, as {@link render} writes them. */
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

/** Says of an entry whose text lost lines how to read the others. */
function partialSentence({ field, within }: Cut, entry: Data): string {
  const text = `"${within?.field}" of the last entry of "${field}" ends early`;
  const next = within?.next?.(entry, countOf(entry[within.field]));
  return next === undefined
    ? `${text}; raise max_chars to read all of it.`
    : `${text}; call again with ${JSON.stringify(next)} to read all of it.`;
}

function lengthOf(data: Data): number {
  return render(data).length;
}

/** Writes JSON with a line for each field, and for each entry of a list. */
export function render(data: Data): string {
  const fields = Object.entries(data).filter(([, value]) => value !== undefined);
  const lines = fields.map(([name, value]) => `${JSON.stringify(name)}: ${renderValue(value)}`);
  return `{\n${lines.join(",\n")}\n}`;
}

function renderValue(value: unknown): string {
  if (!Array.isArray(value) || value.length === 0) return JSON.stringify(value);
  return `[\n${value.map((entry) => JSON.stringify(entry)).join(",\n")}\n]`;
}
