/** What the server and the browser make of the lines of a job's log. */

/** A piece of a line, and the classes of its look; "" for none. */
export interface Piece {
  readonly text: string;
  readonly look: string;
}

/** Most characters of a line that a page shows. */
const MAX_SHOWN = 2000;

/** Control sequences of ECMA-48: those with parameters, those with a text, and the short ones. */
const SEQUENCE =
  // deno-lint-ignore no-control-regex
  /\x1b(?:\[([\x30-\x3f]*)[\x20-\x2f]*([\x40-\x7e])|[\]PX^_][^\x07\x1b]*\x07?|[\x20-\x2f]*[\x30-\x7e])?/g;

/** What is left of control characters would be seen as boxes. */
// deno-lint-ignore no-control-regex
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f]/g;

/** The looks that Select Graphic Rendition (SGR) switches on and off, by their parameters. */
const LOOKS: Readonly<Record<number, string>> = {
  1: "bold",
  2: "dim",
  3: "italic",
  4: "underlined",
  9: "struck",
};
const ENDS: Readonly<Record<number, readonly string[]>> = {
  22: ["bold", "dim"],
  23: ["italic"],
  24: ["underlined"],
  29: ["struck"],
};

/** The look of the text to come. Colors are those of the palette, from 0 to 15. */
interface State {
  front: number | null;
  back: number | null;
  isInverse: boolean;
  readonly looks: Set<string>;
}

/**
 * A line of output in pieces. Its colors are those of ECMA-48, mapped to the 16 that a page has, so that
 * they can be read in every theme; other control sequences are left out. Each line begins plain.
 */
export function piecesOf(line: string): readonly Piece[] {
  const text = line.slice(0, MAX_SHOWN);
  const state: State = { front: null, back: null, isInverse: false, looks: new Set() };
  const pieces: Piece[] = [];
  let at = 0;
  const take = (end: number) => {
    const plain = text.slice(at, end).replace(CONTROLS, "");
    const look = plain === "" ? "" : lookOf(state);
    const last = pieces.at(-1);
    if (plain === "") return;
    if (last?.look === look) pieces[pieces.length - 1] = { text: last.text + plain, look };
    else pieces.push({ text: plain, look });
  };
  for (const { 0: sequence, 1: parameters = "", 2: end, index } of text.matchAll(SEQUENCE)) {
    take(index);
    at = index + sequence.length;
    if (end === "m") render(state, parameters);
  }
  take(text.length);
  if (line.length > MAX_SHOWN) pieces.push({ text: " … the line goes on", look: "cut" });
  return pieces;
}

/** The text of a line, without looks. */
export function plainOf(line: string): string {
  return line.replace(SEQUENCE, "").replace(CONTROLS, "");
}

function lookOf({ front, back, isInverse, looks }: State): string {
  const names = [...looks];
  const [text, ground] = isInverse ? [back, front ?? 7] : [front, back];
  if (text !== null) names.push(`fg-${text}`);
  if (ground !== null) names.push(`bg-${ground}`);
  return names.join(" ");
}

/** Selects a graphic rendition (ECMA-48, 8.3.117). */
function render(state: State, parameters: string): void {
  const codes = parameters.split(/[;:]/).map(Number);
  for (let place = 0; place < codes.length; place++) {
    const code = codes[place] ?? 0;
    const look = LOOKS[code];
    if (code === 0) {
      state.front = state.back = null;
      state.isInverse = false;
      state.looks.clear();
    } else if (look !== undefined) state.looks.add(look);
    else if (code in ENDS) ENDS[code]?.forEach((one) => state.looks.delete(one));
    else if (code === 7 || code === 27) state.isInverse = code === 7;
    else if (code >= 30 && code <= 37) state.front = code - 30;
    else if (code >= 40 && code <= 47) state.back = code - 40;
    else if (code >= 90 && code <= 97) state.front = code - 82;
    else if (code >= 100 && code <= 107) state.back = code - 92;
    else if (code === 39) state.front = null;
    else if (code === 49) state.back = null;
    else if (code === 38 || code === 48) {
      const isIndexed = codes[place + 1] === 5;
      const color = isIndexed
        ? indexed(codes[place + 2] ?? 0)
        : nearest(codes.slice(place + 2, place + 5));
      if (code === 38) state.front = color;
      else state.back = color;
      place += isIndexed ? 2 : 4;
    }
  }
}

/** A color of the 256 that terminals have, as one of the 16. */
function indexed(index: number): number | null {
  if (index < 16) return index;
  if (index > 231) return nearest([index, index, index].map((it) => (it - 232) * 10 + 8));
  const level = (step: number) => Math.floor((index - 16) / step) % 6 * 51;
  return nearest([level(36), level(6), level(1)]);
}

/** The nearest of the 16; null for light greys, which are the color of text in one of the themes. */
function nearest(color: readonly number[]): number | null {
  const [red = 0, green = 0, blue = 0] = color;
  const [most, least] = [Math.max(red, green, blue), Math.min(red, green, blue)];
  if (most - least < 40) return most < 160 ? 8 : null;
  const middle = (most + least) / 2;
  return (red > middle ? 1 : 0) + (green > middle ? 2 : 0) + (blue > middle ? 4 : 0);
}

/** How long something took, such as `3.2 s`, `12 s`, `4m 05s` or `1h 02m`. @param ms milliseconds */
export function lengthOf(ms: number): string {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const two = (value: number) => String(value).padStart(2, "0");
  if (whole < 3600) return `${Math.floor(whole / 60)}m ${two(whole % 60)}s`;
  return `${Math.floor(whole / 3600)}h ${two(Math.floor(whole % 3600 / 60))}m`;
}
