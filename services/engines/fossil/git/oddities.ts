/** What a server keeps as it was pushed, and people should know of. */
import { formatMode, MODE, type TreeEntry } from "../../git/mod.ts";
import { foldPath, windowsFault } from "../artifact/mod.ts";
import { TextMap } from "../text/mod.ts";
import { parseSignature } from "./person.ts";
import { textOf } from "./door/trees.ts";

/** Kinds of oddities, each with what is said of several. */
const KINDS = {
  mode: "old modes",
  case: "names that differ in case alone",
  windows: "names that Windows cannot have",
  person: "malformed lines of authors",
  zone: "odd time zones",
  future: "dates in the future",
} as const;

type Kind = keyof typeof KINDS;

/** The longest zone that is anywhere on Earth, in minutes. */
const MAX_ZONE = 14 * 60;
/** How far a clock may be ahead, in seconds. */
const MAX_AHEAD = 24 * 60 * 60;
const USUAL_MODES: ReadonlySet<number> = new Set(Object.values(MODE));
/** Longest name in a sentence, in characters. */
const MAX_SHOWN = 100;

/** Collects oddities: the first of each kind is told, and how many there are. */
export class Oddities {
  readonly #now: number;
  readonly #first = new Map<Kind, string>();
  readonly #counts = new Map<Kind, number>();

  /** @param now Unix seconds */
  constructor(now: number) {
    this.#now = now;
  }

  /** A sentence for each kind. */
  sentences(): string[] {
    return [...this.#first].map(([kind, sentence]) => {
      const more = (this.#counts.get(kind) ?? 1) - 1;
      return more === 0 ? sentence : `${sentence}; ${more} more: ${KINDS[kind]}`;
    });
  }

  lookAtTree(entries: readonly TreeEntry[]): void {
    const folded = new TextMap<string>();
    for (const entry of entries) {
      const { name, mode, zeros = 0 } = entry;
      const text = textOf(name);
      if (zeros > 0 || !USUAL_MODES.has(mode)) {
        this.#note("mode", () => `${quoted(text)} has the old mode ${formatMode(entry)}`);
      }
      const fault = windowsFault(text);
      if (fault !== null) this.#note("windows", () => `${quoted(text)} ${fault}`);
      const fold = foldPath(text);
      const other = folded.get(fold);
      folded.set(fold, text);
      if (other === undefined) continue;
      this.#note(
        "case",
        () => `${quoted(other)} and ${quoted(text)} are one file on systems that ignore case`,
      );
    }
  }

  /** @param lines the author and the committer, each with a time */
  lookAtCommit(name: string, lines: readonly string[]): void {
    const commit = `The commit ${name.slice(0, 10)}`;
    for (const line of lines) {
      const { isTaken, isDated, seconds, zone } = parseSignature(line);
      if (!isTaken || !isDated) {
        this.#note("person", () => `${commit} has a malformed line: ${quoted(line)}`);
      }
      const minutes = Math.floor(Number(zone.slice(1)) / 100) * 60 + Number(zone.slice(-2));
      if (isTaken && (minutes > MAX_ZONE || zone.length !== "+0000".length)) {
        this.#note("zone", () => `${commit} has the odd time zone ${zone}`);
      }
      if (isTaken && seconds > this.#now + MAX_AHEAD) {
        this.#note("future", () => `${commit} has a date in the future`);
      }
    }
  }

  #note(kind: Kind, sentence: () => string): void {
    const count = this.#counts.get(kind) ?? 0;
    if (count === 0) this.#first.set(kind, sentence());
    this.#counts.set(kind, count + 1);
  }
}

function quoted(text: string): string {
  return JSON.stringify(text.slice(0, MAX_SHOWN).toWellFormed());
}
