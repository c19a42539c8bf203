/** Unified diffs: their files and hunks, and what they make of a text. All of it is linear. */
import { amount } from "../../services/kernel/words.ts";
import { Invalid } from "../../services/kernel/errors.ts";
import { placesIn } from "./places.ts";

/** Most files that a patch changes. */
const MAX_FILES = 1000;

/** A run of changed lines with their context. */
export interface Hunk {
  /** The line `@@ … @@`. */
  readonly header: string;
  /** The first line that it replaces, from 1; for a hunk without old lines, the line before it. */
  readonly start: number;
  /** The lines before and after, without their ends. */
  readonly before: readonly string[];
  readonly after: readonly string[];
  /** Whether the last line has no end, before and after. */
  readonly endsOpenBefore: boolean;
  readonly endsOpenAfter: boolean;
}

/** What a diff does with a file. */
export interface FilePatch {
  /** Null for a new file. */
  readonly from: string | null;
  /** Null for a deleted file. */
  readonly to: string | null;
  readonly executable: boolean | null;
  readonly hunks: readonly Hunk[];
}

/** Reads lines one after the other. */
class Lines {
  readonly #lines: readonly string[];
  #next = 0;

  constructor(text: string) {
    const lines = text.split("\n");
    if (lines.at(-1) === "") lines.pop();
    this.#lines = lines;
  }

  /** The next line, or null at the end. */
  get peek(): string | null {
    return this.#lines[this.#next] ?? null;
  }

  /** The number of the next line, from 1. */
  get number(): number {
    return this.#next + 1;
  }

  take(): string | null {
    return this.#lines[this.#next++] ?? null;
  }

  skipTo(pattern: RegExp): void {
    while (this.peek !== null && !pattern.test(this.peek)) this.#next++;
  }
}

const FILE_START = /^(?:diff --git |--- |Binary files |GIT binary patch)/;

/**
 * Reads a unified diff, as `diff -u`, `git diff` and `fossil diff` write it.
 *
 * @throws Invalid if it is none
 */
export function parsePatch(text: string): FilePatch[] {
  const lines = new Lines(text.replaceAll("\r\n", "\n"));
  const found: FilePatch[] = [];
  for (lines.skipTo(FILE_START); lines.peek !== null; lines.skipTo(FILE_START)) {
    if (found.length === MAX_FILES) {
      throw new Invalid(`"patch" changes more than ${MAX_FILES} files: split it`);
    }
    found.push(parseFile(lines));
  }
  if (found.length === 0) {
    throw new Invalid('"patch" is no unified diff: it has no line "--- a/FILE"');
  }
  return found;
}

function parseFile(lines: Lines): FilePatch {
  const header = parseHeader(lines);
  if (/^(?:Binary files |GIT binary patch)/.test(lines.peek ?? "")) {
    throw new Invalid('"patch" changes a binary file: send it in "changes" with content_base64');
  }
  let { from, to } = header;
  if (lines.peek?.startsWith("--- ")) {
    from = nameOf(lines.take() ?? "", "--- ");
    const line = lines.take();
    if (!line?.startsWith("+++ ")) {
      throw new Invalid(`Line ${lines.number - 1} of "patch" must be "+++ b/FILE"`);
    }
    to = nameOf(line, "+++ ");
  }
  if (from === null && to === null) {
    throw new Invalid(`"patch" names no file before its line ${lines.number}`);
  }
  const hunks: Hunk[] = [];
  while (lines.peek?.startsWith("@@")) hunks.push(parseHunk(lines, to ?? from ?? ""));
  return { from, to, executable: header.executable, hunks };
}

/** The lines of Git before `---`: renames, modes, files without hunks. */
function parseHeader(lines: Lines) {
  let from: string | null = null;
  let to: string | null = null;
  let executable: boolean | null = null;
  if (lines.peek?.startsWith("diff --git ")) {
    const names = lines.take()?.slice("diff --git ".length) ?? "";
    const second = names.lastIndexOf(" b/");
    if (names.startsWith("a/") && second > 2 && second + 3 < names.length) {
      [from, to] = [names.slice(2, second), names.slice(second + 3)];
    }
  }
  for (let line = lines.peek; line !== null; line = lines.peek) {
    if (line.startsWith("rename from ")) from = line.slice("rename from ".length);
    else if (line.startsWith("rename to ")) to = line.slice("rename to ".length);
    else if (line.startsWith("new file mode ")) {
      from = null;
      executable = line.endsWith("755");
    } else if (line.startsWith("deleted file mode ")) to = null;
    else if (line.startsWith("new mode ")) executable = line.endsWith("755");
    else if (!/^(?:old mode|index|similarity|dissimilarity) /.test(line)) break;
    lines.take();
  }
  return { from, to, executable };
}

/** The file that a line names; null for none. */
function nameOf(line: string, mark: string): string | null {
  const [name = ""] = line.slice(mark.length).split("\t");
  if (name === "/dev/null") return null;
  return name.replace(/^[ab]\//, "");
}

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

function parseHunk(lines: Lines, file: string): Hunk {
  const line = lines.number;
  const first = lines.take() ?? "";
  const [header = "", start, old = "1", , now = "1"] = HUNK.exec(first) ?? [];
  if (start === undefined) {
    throw new Invalid(
      `Line ${line} of "patch" must be "@@ -LINE,COUNT +LINE,COUNT @@", for ${file}`,
    );
  }
  const before: string[] = [];
  const after: string[] = [];
  let sign = "";
  let endsOpenBefore = false;
  let endsOpenAfter = false;
  while (before.length < Number(old) || after.length < Number(now) || lines.peek?.[0] === "\\") {
    const next = lines.peek;
    // Many programs remove the space of an empty line.
    const mark = next === "" ? " " : next?.[0];
    if (mark === "\\") {
      endsOpenBefore ||= sign !== "+";
      endsOpenAfter ||= sign !== "-";
    } else if (next !== null && (mark === " " || mark === "-" || mark === "+")) {
      if (mark !== "+") before.push(next.slice(1));
      if (mark !== "-") after.push(next.slice(1));
      sign = mark;
    } else break;
    lines.take();
  }
  if (before.length !== Number(old) || after.length !== Number(now)) {
    throw new Invalid(
      `The hunk ${header} of ${file} announces ${old} old and ${now} new lines, and has ` +
        `${before.length} and ${after.length}: complete it, or correct its counts`,
    );
  }
  return { header, start: Number(start), before, after, endsOpenBefore, endsOpenAfter };
}

/** A text after a patch, and the hunks that were found at another line than the patch says. */
export interface Patched {
  readonly text: string;
  readonly moved: readonly string[];
}

/** Faults that an error names; there may be many more. */
const MAX_FAULTS = 5;

/**
 * Applies the hunks of one file. Their old lines must stand in the text exactly: at the line that
 * the hunk says, moved by what earlier hunks added, or at exactly one other place.
 *
 * @param text the file; null if there is none
 * @param search called before the whole text is searched for the lines of a hunk
 * @throws Invalid that names hunks that do not apply, and why; what `search` throws
 */
export async function applyHunks(
  file: string,
  hunks: readonly Hunk[],
  { text, search }: { readonly text: string; readonly search: () => Promise<void> },
): Promise<Patched> {
  const lines = text === "" ? [] : text.replace(/\n$/, "").split("\n");
  const endsOpen = text !== "" && !text.endsWith("\n");
  const result: string[] = [];
  const copy = (start: number, end: number) => {
    for (let index = start; index < end; index++) result.push(lines[index] ?? "");
  };
  const moved: string[] = [];
  const faults: string[] = [];
  let done = 0;
  let shift = 0;
  let opens = endsOpen;
  for (const [index, hunk] of hunks.entries()) {
    const stated = hunk.start - (hunk.before.length === 0 ? 0 : 1);
    const place = await placeOf(hunk, lines, {
      expected: stated + shift,
      from: done,
      endsOpen,
      search,
    });
    if (typeof place === "string") {
      faults.push(`hunk ${hunk.header}: ${place}`);
      if (faults.length < MAX_FAULTS) continue;
      const left = hunks.length - index - 1;
      if (left > 0) faults.push(`the ${amount(left, "hunk")} after that may not apply either`);
      break;
    }
    if (place !== stated) moved.push(`${file}: ${hunk.header} applied at line ${place + 1}`);
    shift = place - stated;
    copy(done, place);
    for (const line of hunk.after) result.push(line);
    done = place + hunk.before.length;
    if (done === lines.length) opens = hunk.after.length === 0 ? endsOpen : hunk.endsOpenAfter;
  }
  if (faults.length > 0) {
    throw new Invalid(`${file} does not match the patch: ${faults.join("; ")}`);
  }
  copy(done, lines.length);
  const end = result.length === 0 || opens ? "" : "\n";
  return { text: result.join("\n") + end, moved };
}

/** Places that an error names. */
const MAX_PLACES = 5;

/** Where a hunk applies, as the number of lines before it; or why it does not. */
async function placeOf(
  { before, endsOpenBefore }: Hunk,
  lines: readonly string[],
  { expected, from, endsOpen, search }: {
    readonly expected: number;
    /** The lines before it belong to earlier hunks. */
    readonly from: number;
    /** Whether the last line has no end. */
    readonly endsOpen: boolean;
    readonly search: () => Promise<void>;
  },
): Promise<number | string> {
  const fits = (place: number) => {
    const end = place + before.length;
    if (place < from || end > lines.length) return false;
    return !endsOpenBefore || (end === lines.length && endsOpen);
  };
  const stands = before.every((line, index) => lines[expected + index] === line);
  if (stands && fits(expected)) return expected;
  if (before.length === 0) return `the file has ${amount(lines.length, "line")}`;
  await search();
  const places = placesIn(lines, before, from).filter(fits);
  const [place, ...others] = places;
  if (place === undefined) return mismatchOf(before, lines, expected);
  if (others.length === 0) return place;
  return `its old lines stand at lines ${
    places.slice(0, MAX_PLACES).map((one) => one + 1).join(", ")
  }, and ` +
    `not at line ${expected + 1}: correct the line`;
}

/** Longest line that an error repeats. */
const MAX_SHOWN = 80;

/** The first line in which a hunk differs from the text at the place where it should apply. */
function mismatchOf(
  before: readonly string[],
  lines: readonly string[],
  expected: number,
): string {
  const index = before.findIndex((line, index) => lines[expected + index] !== line);
  const number = expected + index + 1;
  const found = lines[expected + index];
  const shown = (line: string) => JSON.stringify(line.slice(0, MAX_SHOWN));
  const wanted = shown(before[index] ?? "");
  if (found === undefined) {
    return `it expects ${wanted} at line ${number}, and the file has ${
      amount(lines.length, "line")
    }`;
  }
  return `line ${number} is ${shown(found)}, and the patch expects ${wanted}`;
}
