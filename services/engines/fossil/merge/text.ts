import { createHash } from "node:crypto";
import { encodeUtf8, joinBytes } from "../codec/mod.ts";
import { diffSequences, type Hunk, LineTable, sliceLines } from "../text/mod.ts";

/** Names of the three versions beside conflict markers. */
export interface MarkerLabels {
  readonly ancestor: string;
  readonly ours: string;
  readonly theirs: string;
}

/** A merged text. */
export interface MergedText {
  readonly content: Uint8Array;
  /** Places where both sides changed the same lines, or lines next to each other. */
  readonly conflicts: number;
  /** The first of them, without those that are long. */
  readonly hunks: readonly ConflictHunk[];
}

/** Lines that both sides changed. */
export interface ConflictHunk {
  /** Stands for the three texts, whichever side is ours. */
  readonly id: string;
  /** Where it begins in our text, from 1. */
  readonly line: number;
  readonly ancestor: string;
  readonly ours: string;
  readonly theirs: string;
}

/** Texts in place of conflicts, by the ids of their hunks. */
export type HunkTexts = Readonly<Record<string, string>>;

/** Most conflicts of a text that are told, and most bytes of one. */
const [MAX_HUNKS, MAX_HUNK] = [20, 4000];

/** Texts above this many bytes are not merged by lines. */
export const MAX_MERGED_BYTES = 32 * 1024 * 1024;
/** Bytes to search for a NUL. */
const SNIFFED_BYTES = 65_536;

/** Whether content can be merged by lines. */
export function isText(content: Uint8Array): boolean {
  return content.length <= MAX_MERGED_BYTES &&
    !content.subarray(0, SNIFFED_BYTES).includes(0);
}

/**
 * Merges three versions by lines (diff3). A line end is part of its line, so that CRLF and a
 * missing last line end are kept. Touching changes of both sides are a conflict, unless they are
 * equal. A conflict is replaced by its text among `decided`, else by the lines of the ancestor, or
 * with `labels` by all three versions between markers.
 */
export function mergeText(
  ancestor: Uint8Array,
  ours: Uint8Array,
  theirs: Uint8Array,
  { labels, decided = {} }: { readonly labels?: MarkerLabels; readonly decided?: HunkTexts } = {},
): MergedText {
  const table = new LineTable();
  const base = table.split(ancestor);
  const sides = [ours, theirs].map((content) => {
    const lines = table.split(content);
    return { lines, hunks: diffSequences(base.ids, lines.ids) };
  });
  const pieces: Uint8Array[] = [];
  const hunks: ConflictHunk[] = [];
  let [done, conflicts] = [0, 0];
  for (const region of regionsOf(sides[0]!.hunks, sides[1]!.hunks)) {
    const { start, end } = region;
    pieces.push(sliceLines(base, done, start));
    done = end;
    const original = sliceLines(base, start, end);
    const ranges = region.hunks.map((hunks) =>
      hunks.length === 0 ? null : rangeIn(hunks, start, end)
    );
    const [mine, other] = ranges.map((range, i) =>
      range === null ? null : sliceLines(sides[i]!.lines, ...range)
    );
    if (!other || !mine) pieces.push(mine ?? other ?? original);
    else if (areEqual(mine, other)) pieces.push(mine);
    else {
      const id = hunkId(original, mine, other);
      const text = Object.hasOwn(decided, id) ? decided[id] : undefined;
      if (text !== undefined) pieces.push(decidedText(text, mine, other));
      else {
        conflicts++;
        pieces.push(...(labels ? marked(original, mine, other, labels) : [original]));
        const isShort = original.length + mine.length + other.length <= MAX_HUNK;
        const line = (ranges[0]?.[0] ?? 0) + 1;
        if (isShort && hunks.length < MAX_HUNKS) {
          const [ancestor = "", ours = "", theirs = ""] = [original, mine, other].map(textOf);
          hunks.push({ id, line, ancestor, ours, theirs });
        }
      }
    }
  }
  pieces.push(sliceLines(base, done, base.ids.length));
  return { content: joinBytes(pieces), conflicts, hunks };
}

/** Lines of the ancestor that at least one side changed, with the hunks of both. */
interface Region {
  start: number;
  end: number;
  readonly hunks: readonly [Hunk[], Hunk[]];
}

/** Hunks of both sides that overlap or touch make one region. */
function regionsOf(ours: readonly Hunk[], theirs: readonly Hunk[]): Region[] {
  const regions: Region[] = [];
  const all = [
    ...ours.map((hunk) => ({ hunk, side: 0 as const })),
    ...theirs.map((hunk) => ({ hunk, side: 1 as const })),
  ].toSorted((a, b) => a.hunk.fromStart - b.hunk.fromStart || a.hunk.fromEnd - b.hunk.fromEnd);
  for (const { hunk, side } of all) {
    let region = regions.at(-1);
    if (region === undefined || hunk.fromStart > region.end) {
      region = { start: hunk.fromStart, end: hunk.fromEnd, hunks: [[], []] };
      regions.push(region);
    }
    region.end = Math.max(region.end, hunk.fromEnd);
    region.hunks[side].push(hunk);
  }
  return regions;
}

/**
 * The lines of a side that correspond to lines of the ancestor, which begin and end around hunks.
 */
function rangeIn(hunks: readonly Hunk[], start: number, end: number): [number, number] {
  const [first, last] = [hunks[0]!, hunks.at(-1)!];
  return [first.toStart - (first.fromStart - start), last.toEnd + (end - last.fromEnd)];
}

/** Digits of a hunk's id. */
const ID_DIGITS = 10;

function hunkId(ancestor: Uint8Array, ours: Uint8Array, theirs: Uint8Array): string {
  const [first, second] = [ours, theirs].map(textOf).toSorted();
  const whole = JSON.stringify([textOf(ancestor), first, second]);
  return createHash("sha256").update(whole).digest("hex").slice(0, ID_DIGITS);
}

function textOf(content: Uint8Array): string {
  return new TextDecoder().decode(content);
}

/** A text that ends its last line where one of the sides does. */
function decidedText(text: string, ours: Uint8Array, theirs: Uint8Array): Uint8Array {
  const ends = [ours, theirs].some((side) => side.at(-1) === 0x0a);
  return encodeUtf8(ends && text !== "" && !text.endsWith("\n") ? `${text}\n` : text);
}

function areEqual(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && left.every((byte, i) => byte === right[i]);
}

function marked(
  original: Uint8Array,
  ours: Uint8Array,
  theirs: Uint8Array,
  labels: MarkerLabels,
): Uint8Array[] {
  return [
    marker(`<<<<<<< ${labels.ours}`),
    ended(ours),
    marker(`||||||| ${labels.ancestor}`),
    ended(original),
    marker("======="),
    ended(theirs),
    marker(`>>>>>>> ${labels.theirs}`),
  ];
}

function marker(text: string): Uint8Array {
  return new TextEncoder().encode(`${text}\n`);
}

/** A marker needs a line of its own. */
function ended(content: Uint8Array): Uint8Array {
  if (content.length === 0 || content.at(-1) === 0x0a) return content;
  return joinBytes([content, marker("")]);
}
