/**
 * Finds the targets of links in Markdown, by the rules of Fossil's own dialect: inline links,
 * reference links and shortcuts, but no images; nothing in code, in raw HTML blocks or in tags.
 */
import { MAX_DEPTH, readInline, type Scan, spend } from "./markdown_inline.ts";
import { takeDefinitions } from "./markdown_references.ts";

/** Longest text that is searched, in characters. */
const MAX_LENGTH = 1024 * 1024;
/** A paragraph is searched in pieces of this many characters. */
const MAX_PARAGRAPH = 64 * 1024;
/** Most work for one text, in characters read; nested parts are read once for each level. */
const MAX_WORK = 16 * MAX_LENGTH;
/** Work for a line besides its characters. */
const LINE_WORK = 16;

const EMPTY = /^[ \t]*$/;
const RULE = /^ {0,3}([*_-])[ \t]*(?:\1[ \t]*){2,}$/;
const QUOTE = /^ {0,3}>[ \t]?/;
const CODE = /^(?:\t| {4})/;
const ITEM = /^ {0,3}(?:[*+-]|\d+[.)])[ \t]+/;
const FENCE = /^(`{3,}|~{3,})/;
const HTML_BLOCK = /^<(html|pre|script)[\s>]/i;
const HTML_COMMENT = /^<!--/;

/**
 * Targets of links. References may stand anywhere in the text. The time is linear in the text:
 * nested parts count again, and the search ends when they exceed {@link MAX_WORK}.
 */
export function markdownLinks(text: string): string[] {
  const { body, references, footnotes } = takeDefinitions(text.slice(0, MAX_LENGTH));
  const links: string[] = [];
  readBlocks(body.split(/\r?\n/), { references, footnotes, links, work: MAX_WORK }, 0);
  return links;
}

function readBlocks(lines: readonly string[], scan: Scan, depth: number): void {
  const work = lines.reduce((sum, line) => sum + LINE_WORK + line.length, 0);
  if (depth > MAX_DEPTH || !spend(scan, work)) return;
  const ends = new BlockEnds(lines);
  let paragraph: string[] = [];
  const flush = () => {
    const text = paragraph.join("\n");
    for (let at = 0; at < text.length; at += MAX_PARAGRAPH) {
      readInline(text.slice(at, at + MAX_PARAGRAPH), scan, 0);
    }
    paragraph = [];
  };
  for (let i = 0; i < lines.length;) {
    const line = lines[i]!;
    const inParagraph = paragraph.length > 0;
    const block = inParagraph ? null : blockAt(lines, i, ends);
    if (block !== null) {
      if (block.inner !== null) readBlocks(block.inner, scan, depth + 1);
      i = block.end;
    } else if (EMPTY.test(line) || RULE.test(line)) {
      flush();
      i++;
    } else if (line.startsWith("#")) {
      flush();
      readInline(line, scan, 0);
      i++;
    } else {
      paragraph.push(line);
      i++;
    }
  }
  flush();
}

interface Block {
  /** Line behind the block. */
  readonly end: number;
  /** Lines in which links count, without their prefix; null for code and HTML. */
  readonly inner: readonly string[] | null;
}

/** The block that begins at a line, null for a paragraph, heading, rule or empty line. */
function blockAt(lines: readonly string[], start: number, ends: BlockEnds): Block | null {
  const line = lines[start]!;
  if (RULE.test(line)) return null;
  if (HTML_BLOCK.test(line) || HTML_COMMENT.test(line)) return ends.html(start);
  if (QUOTE.test(line)) return quoteBlock(lines, start);
  if (CODE.test(line) && !EMPTY.test(line)) return codeBlock(lines, start);
  if (ITEM.test(line)) return listItem(lines, start);
  const fence = FENCE.exec(line)?.[1];
  return fence === undefined ? null : ends.fence(start, fence);
}

function quoteBlock(lines: readonly string[], start: number): Block {
  const inner: string[] = [];
  let end = start;
  for (; end < lines.length; end++) {
    const line = lines[end]!;
    const next = lines[end + 1] ?? "";
    if (EMPTY.test(line) && !QUOTE.test(next) && !EMPTY.test(next)) break;
    inner.push(line.replace(QUOTE, ""));
  }
  return { end, inner };
}

function codeBlock(lines: readonly string[], start: number): Block {
  let end = start;
  while (end < lines.length && (CODE.test(lines[end]!) || EMPTY.test(lines[end]!))) end++;
  return { end, inner: null };
}

/** One item: its first line, what follows without an empty line, and indented lines behind one. */
function listItem(lines: readonly string[], start: number): Block {
  const indent = /^ */.exec(lines[start]!)![0].length;
  const inner = [lines[start]!.replace(ITEM, "")];
  let afterEmpty = false;
  let end = start + 1;
  for (; end < lines.length; end++) {
    const line = lines[end]!;
    if (EMPTY.test(line)) {
      afterEmpty = true;
      continue;
    }
    const pad = /^(?:\t| {0,4})/.exec(line)![0];
    const rest = line.slice(pad.length);
    const isItem = ITEM.test(rest) && !RULE.test(rest);
    if (isItem && pad.length === indent && pad !== "\t") break;
    if (!isItem && afterEmpty && pad.length < 4 && pad !== "\t") break;
    if (afterEmpty) inner.push("");
    afterEmpty = false;
    inner.push(rest);
  }
  return { end, inner };
}

/**
 * Ends of the blocks that need a closing line. It remembers what has no end, because many lines may
 * open the same block.
 */
class BlockEnds {
  readonly #lines: readonly string[];
  /** Names of elements that no later line closes; "" for a comment. */
  readonly #unclosed = new Set<string>();
  /** The longest run of a fence's character in each line or a later one. */
  readonly #longest = new Map<string, Int32Array>();

  constructor(lines: readonly string[]) {
    this.#lines = lines;
  }

  /** Raw HTML counts as such only where a closing tag and an empty line end it. */
  html(start: number): Block | null {
    const name = (HTML_BLOCK.exec(this.#lines[start]!)?.[1] ?? "").toLowerCase();
    if (this.#unclosed.has(name)) return null;
    const closing = name === "" ? /-->[ \t]*$/ : new RegExp(`</${name}>[ \\t]*$`, "i");
    for (let i = start; i < this.#lines.length; i++) {
      const followed = name === "" || EMPTY.test(this.#lines[i + 1] ?? "");
      if (closing.test(this.#lines[i]!) && followed) return { end: i + 1, inner: null };
    }
    this.#unclosed.add(name);
    return null;
  }

  /** A fence works like a very long code span: it ends where its own characters come again. */
  fence(start: number, fence: string): Block | null {
    if (this.#longestRuns(fence[0]!)[start + 1]! < fence.length) return null;
    for (let i = start + 1; i < this.#lines.length; i++) {
      if (this.#lines[i]!.includes(fence)) return { end: i + 1, inner: null };
    }
    return null;
  }

  #longestRuns(character: string): Int32Array {
    const known = this.#longest.get(character);
    if (known !== undefined) return known;
    const longest = new Int32Array(this.#lines.length + 1);
    for (let i = this.#lines.length - 1; i >= 0; i--) {
      const runs = this.#lines[i]!.match(character === "~" ? /~{3,}/g : /`{3,}/g) ?? [];
      longest[i] = runs.reduce((most, run) => Math.max(most, run.length), longest[i + 1]!);
    }
    this.#longest.set(character, longest);
    return longest;
  }
}
