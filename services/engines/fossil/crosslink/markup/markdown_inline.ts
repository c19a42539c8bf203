/** Finds the targets of links in a paragraph of Markdown. */
import { referenceId } from "./markdown_references.ts";

/** Nested quotes, lists and labels below this depth are not searched. */
export const MAX_DEPTH = 100;
/** Longest row of backticks that is one delimiter. */
const MAX_TICKS = 100;

/** The state of a search. */
export interface Scan {
  readonly references: ReadonlyMap<string, string>;
  /** Texts of footnotes without a reference so far. */
  readonly footnotes: Map<string, string>;
  readonly links: string[];
  /** The rest of the work that is allowed, in characters; the search ends below zero. */
  work: number;
}

/** Counts work; returns whether it is still allowed. */
export function spend(scan: Scan, work: number): boolean {
  scan.work -= work;
  return scan.work >= 0;
}

/**
 * Reads the links of a paragraph, a heading or a label. What does not end, such as a comment, is
 * plain text.
 */
export function readInline(text: string, scan: Scan, depth: number): void {
  if (depth > MAX_DEPTH || !spend(scan, text.length)) return;
  new InlineReader(text, scan, depth).read();
}

/** Links of a footnote count once, if the text refers to it. */
function readFootnote(id: string, scan: Scan, depth: number): void {
  const note = scan.footnotes.get(referenceId(id));
  scan.footnotes.delete(referenceId(id));
  if (note !== undefined) readInline(note, scan, depth + 1);
}

interface ResolvedLink {
  /** Where the text after the label begins. */
  readonly start: number;
  readonly end: number;
  /** Begins with "^" for a footnote. */
  readonly target: string;
}

class InlineReader {
  readonly #text: string;
  readonly #scan: Scan;
  readonly #depth: number;
  readonly #ends: Ends;
  readonly #brackets: ReadonlyMap<number, number>;
  /** Computed for the first inline footnote. */
  #parentheses: ReadonlyMap<number, number> | null = null;

  constructor(text: string, scan: Scan, depth: number) {
    this.#text = text;
    this.#scan = scan;
    this.#depth = depth;
    this.#ends = new Ends(text);
    this.#brackets = matchBrackets(text);
  }

  read(): void {
    const text = this.#text;
    for (let i = 0; i < text.length && this.#scan.work >= 0;) {
      switch (text[i]) {
        case "\\":
          i += 2;
          break;
        case "`":
          i = this.#codeSpanEnd(i);
          break;
        case "<":
          i = this.#tagEnd(i);
          break;
        case "[":
          i = this.#readLink(i);
          break;
        case "(":
          i = this.#readInlineNote(i);
          break;
        default:
          i++;
      }
    }
  }

  /** Position after a tag or comment, or after its first character if it does not end. */
  #tagEnd(start: number): number {
    if (this.#text.startsWith("!--", start + 1)) {
      return this.#ends.after("-->", start + 4) ?? start + 1;
    }
    const name = this.#text[start + 1] === "/" ? start + 2 : start + 1;
    if (!/[a-z]/i.test(this.#text[name] ?? "")) return start + 1;
    return this.#ends.after(">", name) ?? start + 1;
  }

  /** Position after a code span, or after its first backtick if it does not end. */
  #codeSpanEnd(start: number): number {
    const text = this.#text;
    let end = start + 1;
    while (text[end] === "`" && end - start < MAX_TICKS) end++;
    return this.#ends.after(text.slice(start, end), end) ?? start + 1;
  }

  /** An inline footnote, `(^…)`; returns the position after it. */
  #readInlineNote(start: number): number {
    if (this.#text[start + 1] !== "^") return start + 1;
    this.#parentheses ??= matchParentheses(this.#text);
    const end = this.#parentheses.get(start);
    if (end === undefined) return start + 1;
    readInline(this.#text.slice(start + 2, end), this.#scan, this.#depth + 1);
    return end + 1;
  }

  /** Reads a link; returns the position after it, or after the bracket if it is not a link. */
  #readLink(start: number): number {
    const close = this.#brackets.get(start);
    if (close === undefined) return start + 1;
    const label = this.#text.slice(start + 1, close);
    if (label.startsWith("^")) {
      readFootnote(label.slice(1), this.#scan, this.#depth);
      return close + 1;
    }
    const link = this.#resolve(label, close);
    if (link === null) return start + 1;
    const isImage = start > 0 && this.#text[start - 1] === "!";
    if (isImage) return link.end;
    readInline(label, this.#scan, this.#depth + 1);
    if (!link.target.startsWith("^")) {
      this.#scan.links.push(link.target);
      return link.end;
    }
    const inParentheses = this.#text[link.end - 1] === ")";
    if (!inParentheses) readFootnote(link.target.slice(1), this.#scan, this.#depth);
    return inParentheses ? this.#readInlineNote(link.start) : link.end;
  }

  /** The text after the label decides: `(target)`, `[reference]`, or nothing for a shortcut. */
  #resolve(label: string, close: number): ResolvedLink | null {
    const text = this.#text;
    let next = close + 1;
    while (/[ \t\n]/.test(text[next] ?? "")) next++;
    if (text[next] === "(") {
      const closing = this.#ends.parenthesis(next + 1);
      if (closing === null || !spend(this.#scan, closing - next)) return null;
      const target = inlineTarget(text.slice(next + 1, closing));
      return { start: next, end: closing + 1, target };
    }
    if (text[next] === "[") {
      const end = text.indexOf("]", next);
      if (end < 0) return null;
      const id = text.slice(next + 1, end);
      if (id.startsWith("^")) return { start: next, end: end + 1, target: id };
      const target = this.#reference(id === "" ? label : id);
      return target === undefined ? null : { start: next, end: end + 1, target };
    }
    const target = this.#reference(label);
    return target === undefined ? null : { start: next, end: close + 1, target };
  }

  #reference(name: string): string | undefined {
    const { references } = this.#scan;
    if (references.size === 0 || !spend(this.#scan, name.length)) return undefined;
    return references.get(referenceId(name));
  }
}

/**
 * Searches for closing delimiters. The positions asked for may only grow. It remembers the last
 * answer for each delimiter, because many openings may share one end, or have none.
 */
class Ends {
  readonly #text: string;
  /** The first position of a delimiter at or after an earlier one; -1 if none follows. */
  readonly #found = new Map<string, number>();
  #parenthesis = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** The position after the next delimiter. */
  after(delimiter: string, from: number): number | null {
    let found = this.#found.get(delimiter) ?? 0;
    if (found >= 0 && (found < from || !this.#found.has(delimiter))) {
      found = this.#text.indexOf(delimiter, from);
      this.#found.set(delimiter, found);
    }
    return found < 0 ? null : found + delimiter.length;
  }

  /** The next closing parenthesis without a backslash. */
  parenthesis(from: number): number | null {
    if (this.#parenthesis < from) {
      const closing = /(?<!\\)\)/g;
      closing.lastIndex = from;
      this.#parenthesis = closing.exec(this.#text)?.index ?? Infinity;
    }
    return this.#parenthesis === Infinity ? null : this.#parenthesis;
  }
}

/** The position of the closing bracket for every opening one; escaped ones do not count. */
function matchBrackets(text: string): ReadonlyMap<number, number> {
  const pairs = new Map<number, number>();
  const open: number[] = [];
  for (let i = 0; i < text.length; i++) {
    if (text[i] === "[") {
      open.push(i);
    } else if (text[i] === "]" && text[i - 1] !== "\\") {
      const start = open.pop();
      if (start !== undefined) pairs.set(start, i);
    }
  }
  return pairs;
}

/** The same for parentheses; here escaped ones do not open either. */
function matchParentheses(text: string): ReadonlyMap<number, number> {
  const pairs = new Map<number, number>();
  const open: number[] = [];
  for (let i = 0; i < text.length; i++) {
    if (text[i - 1] === "\\") continue;
    if (text[i] === "(") {
      open.push(i);
    } else if (text[i] === ")") {
      const start = open.pop();
      if (start !== undefined) pairs.set(start, i);
    }
  }
  return pairs;
}

/** The target of an inline link, without title, angle brackets and backslashes. */
function inlineTarget(inside: string): string {
  const target = withoutTitle(inside).trim();
  return target.replace(/^</, "").replace(/>$/, "").replaceAll("\\", "");
}

/** The text before the first quote, if the text ends with another one. */
function withoutTitle(inside: string): string {
  let last = inside.length - 1;
  while (last >= 0 && " \t\n".includes(inside[last]!)) last--;
  if (inside[last] !== '"' && inside[last] !== "'") return inside;
  const first = inside.search(/["']/);
  return first < last ? inside.slice(0, first) : inside;
}
