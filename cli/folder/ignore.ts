/**
 * What a folder's `.gitignore` files leave out.
 *
 * @see {@link https://git-scm.com/docs/gitignore}
 */
import { matchesGlob } from "../../services/engines/fossil/mod.ts";

/** The file with the rules of a folder and those in it. */
export const IGNORE_FILE = ".gitignore";

/** Longest file of rules that counts, in characters, and most rules of one. */
const [MAX_TEXT, MAX_RULES] = [1024 * 1024, 10_000];

interface Rule {
  /** Patterns for each part of a path; `**` for any parts. */
  readonly parts: readonly string[];
  readonly isNegated: boolean;
  /** Whether it is for folders alone. */
  readonly isOfFolders: boolean;
}

/** The rules of a folder's file, with those of the folders around it. */
export class IgnoreRules {
  readonly #rules: readonly Rule[];
  /** The folder's path, with a slash at the end unless it is the first one. */
  readonly #folder: string;
  readonly #around: IgnoreRules | null;

  constructor(text: string, folder: string, around: IgnoreRules | null) {
    this.#rules = rulesOf(text);
    this.#folder = folder;
    this.#around = around;
  }

  /**
   * Whether a file or a folder is left out. If a folder is left out, so is all that it holds.
   *
   * @param path from the first folder on, with slashes
   */
  leavesOut(path: string, isFolder: boolean): boolean {
    return this.#verdict(path, isFolder) ?? false;
  }

  /** The last rule of the nearest file counts; null if there is none. */
  #verdict(path: string, isFolder: boolean): boolean | null {
    const parts = path.slice(this.#folder.length).split("/");
    const rule = this.#rules.findLast((one) =>
      (isFolder || !one.isOfFolders) && matchesParts(one.parts, parts)
    );
    if (rule !== undefined) return !rule.isNegated;
    return this.#around === null ? null : this.#around.#verdict(path, isFolder);
  }
}

function rulesOf(text: string): Rule[] {
  return text.slice(0, MAX_TEXT).replace(/^\ufeff/, "").split(/\r?\n/).slice(0, MAX_RULES)
    .flatMap((line) => ruleOf(line) ?? []);
}

function ruleOf(line: string): Rule | null {
  const trimmed = withoutEnd(line);
  if (trimmed === "" || trimmed.startsWith("#")) return null;
  const isNegated = trimmed.startsWith("!");
  const written = isNegated ? trimmed.slice(1) : trimmed;
  const isOfFolders = written.endsWith("/");
  const pattern = isOfFolders ? written.slice(0, -1) : written;
  if (pattern === "") return null;
  const isPlaced = pattern.includes("/");
  const parts = pattern.replace(/^\//, "").split("/").map(globOf);
  return { parts: isPlaced ? parts : ["**", ...parts], isNegated, isOfFolders };
}

/** A line without the spaces at its end, unless a backslash is before them. */
function withoutEnd(line: string): string {
  let end = line.length;
  while (line[end - 1] === " ") end--;
  let slashes = 0;
  while (line[end - 1 - slashes] === "\\") slashes++;
  return line.slice(0, slashes % 2 === 1 && end < line.length ? end + 1 : end);
}

/** A pattern of Git in the form of SQLite's: `[!a]` is `[^a]`, and `\x` is `[x]`. */
function globOf(part: string): string {
  return part.replace(
    /\\(.)|\[!/g,
    (_, escaped: string | undefined) =>
      escaped === undefined ? "[^" : /[*?[]/.test(escaped) ? `[${escaped}]` : escaped,
  );
}

/** Whether patterns match all parts of a path; a `**` at the end matches at least one. */
function matchesParts(patterns: readonly string[], parts: readonly string[]): boolean {
  let places = skipped(new Set([0]), patterns);
  for (const part of parts) {
    const next = new Set<number>();
    for (const place of places) {
      const pattern = patterns[place];
      if (pattern === undefined) continue;
      if (pattern === "**") next.add(place);
      else if (matchesGlob(pattern, part)) next.add(place + 1);
    }
    const isAtLast = next.has(patterns.length - 1) && patterns.at(-1) === "**";
    places = skipped(next, patterns);
    if (isAtLast) places.add(patterns.length);
  }
  return places.has(patterns.length);
}

/** Places where a match may go on: a `**` may stand for nothing, unless it is the last. */
function skipped(places: Set<number>, patterns: readonly string[]): Set<number> {
  for (const place of places) {
    if (patterns[place] === "**" && place < patterns.length - 1) places.add(place + 1);
  }
  return places;
}
