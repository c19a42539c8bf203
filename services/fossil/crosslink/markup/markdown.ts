/**
 * Finds the targets of links in Markdown, by the rules of Fossil's own dialect: inline links,
 * reference links and shortcuts, but no images; nothing in code, in raw HTML blocks or in tags.
 */

/** Nested quotes and lists below this depth are not searched. */
const MAX_DEPTH = 100;
/** Longest text that is searched, in characters. */
const MAX_LENGTH = 1024 * 1024;
/** A paragraph is searched in pieces of this many characters. */
const MAX_PARAGRAPH = 64 * 1024;

const REFERENCE =
  /^ {0,3}\[(?!\^)([^\]\r\n]*)\]:[ \t]*(?:\r?\n)?[ \t]*<?([^ \t\r\n]+?)>?[ \t]*(?:\r?\n[ \t]*(?:["'(][^\r\n]*["')][ \t]*(?=\r?\n|$))?|["'(][^\r\n]*["')][ \t]*(?:\r?\n|$)|$)/gm;
const FOOTNOTE = /^\[\^([^\]\r\n]+)\]:[ \t]*(.*(?:\r?\n {2,}.*)*)/gm;

const EMPTY = /^[ \t]*$/;
const RULE = /^ {0,3}([*_-])[ \t]*(?:\1[ \t]*){2,}$/;
const QUOTE = /^ {0,3}>[ \t]?/;
const CODE = /^(?:\t| {4})/;
const ITEM = /^ {0,3}(?:[*+-]|\d+[.)])[ \t]+/;
const FENCE = /^(`{3,}|~{3,})/;
const HTML_BLOCK = /^<(html|pre|script)[\s>]/i;
const HTML_COMMENT = /^<!--/;

/** Targets of links. References may stand anywhere in the text. */
export function markdownLinks(text: string): string[] {
  const references = new Map<string, string>();
  const footnotes = new Map<string, string>();
  const body = text.slice(0, MAX_LENGTH).replace(REFERENCE, (_, id: string, target: string) => {
    if (!references.has(referenceId(id))) references.set(referenceId(id), target);
    return "";
  }).replace(FOOTNOTE, (_, id: string, note: string) => {
    footnotes.set(referenceId(id), note);
    return "";
  });
  const links: string[] = [];
  readBlocks(body.split(/\r?\n/), { references, footnotes, links }, 0);
  return links;
}

interface Scan {
  readonly references: ReadonlyMap<string, string>;
  /** Texts of footnotes without a reference so far. */
  readonly footnotes: Map<string, string>;
  readonly links: string[];
}

function referenceId(text: string): string {
  return text.trim().replace(/[ \t\n]+/g, " ").toLowerCase();
}

function readBlocks(lines: readonly string[], scan: Scan, depth: number): void {
  if (depth > MAX_DEPTH) return;
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
    const block = inParagraph ? null : blockAt(lines, i);
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
function blockAt(lines: readonly string[], start: number): Block | null {
  const line = lines[start]!;
  if (RULE.test(line)) return null;
  if (HTML_BLOCK.test(line) || HTML_COMMENT.test(line)) return htmlBlock(lines, start);
  if (QUOTE.test(line)) return quoteBlock(lines, start);
  if (CODE.test(line) && !EMPTY.test(line)) return codeBlock(lines, start);
  if (ITEM.test(line)) return listItem(lines, start);
  const fence = FENCE.exec(line)?.[1];
  return fence === undefined ? null : fencedBlock(lines, start, fence);
}

/** Raw HTML counts as such only where a closing tag and an empty line end it. */
function htmlBlock(lines: readonly string[], start: number): Block | null {
  const name = HTML_BLOCK.exec(lines[start]!)?.[1];
  const closing = name === undefined ? /-->[ \t]*$/ : new RegExp(`</${name}>[ \\t]*$`, "i");
  for (let i = start; i < lines.length; i++) {
    const followed = name === undefined || EMPTY.test(lines[i + 1] ?? "");
    if (closing.test(lines[i]!) && followed) return { end: i + 1, inner: null };
  }
  return null;
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

/** A fence works like a very long code span: it ends where its own characters come again. */
function fencedBlock(lines: readonly string[], start: number, fence: string): Block | null {
  for (let i = start + 1; i < lines.length; i++) {
    if (lines[i]!.includes(fence)) return { end: i + 1, inner: null };
  }
  return null;
}

const TAG = /<(?:\/?[a-z][^>]*|!--[\s\S]*?--)>/iy;

function readInline(text: string, scan: Scan, depth: number): void {
  if (depth > MAX_DEPTH) return;
  const brackets = matchBrackets(text);
  for (let i = 0; i < text.length;) {
    switch (text[i]) {
      case "\\":
        i += 2;
        break;
      case "`":
        i = codeSpanEnd(text, i);
        break;
      case "<":
        TAG.lastIndex = i;
        i += TAG.exec(text)?.[0].length ?? 1;
        break;
      case "[":
        i = readLink(text, i, brackets.get(i), scan, depth);
        break;
      case "(":
        i = readInlineNote(text, i, scan, depth);
        break;
      default:
        i++;
    }
  }
}

/** An inline footnote, `(^…)`; returns the position after it. */
function readInlineNote(text: string, start: number, scan: Scan, depth: number): number {
  if (text[start + 1] !== "^") return start + 1;
  let level = 0;
  for (let i = start; i < text.length; i++) {
    if (text[i] === "(" && text[i - 1] !== "\\") level++;
    else if (text[i] === ")" && text[i - 1] !== "\\" && --level === 0) {
      readInline(text.slice(start + 2, i), scan, depth + 1);
      return i + 1;
    }
  }
  return start + 1;
}

/** Links of a footnote count once, if the text refers to it. */
function readFootnote(id: string, scan: Scan, depth: number): void {
  const note = scan.footnotes.get(referenceId(id));
  scan.footnotes.delete(referenceId(id));
  if (note !== undefined) readInline(note, scan, depth + 1);
}

/** Position after a code span, or after its first backtick if it does not end. */
function codeSpanEnd(text: string, start: number): number {
  const ticks = /^`+/.exec(text.slice(start, start + MAX_DEPTH))?.[0] ?? "`";
  const end = text.indexOf(ticks, start + ticks.length);
  return end < 0 ? start + 1 : end + ticks.length;
}

/** Reads a link; returns the position after it, or after the bracket if it is not a link. */
function readLink(
  text: string,
  start: number,
  close: number | undefined,
  scan: Scan,
  depth: number,
): number {
  if (close === undefined) return start + 1;
  const label = text.slice(start + 1, close);
  if (label.startsWith("^")) {
    readFootnote(label.slice(1), scan, depth);
    return close + 1;
  }
  const link = resolveLink(text, label, close, scan.references);
  if (link === null) return start + 1;
  const isImage = start > 0 && text[start - 1] === "!";
  if (isImage) return link.end;
  readInline(label, scan, depth + 1);
  if (!link.target.startsWith("^")) {
    scan.links.push(link.target);
    return link.end;
  }
  const inParentheses = text[link.end - 1] === ")";
  if (!inParentheses) readFootnote(link.target.slice(1), scan, depth);
  return inParentheses ? readInlineNote(text, link.start, scan, depth) : link.end;
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

interface ResolvedLink {
  /** Where the text after the label begins. */
  readonly start: number;
  readonly end: number;
  /** Begins with "^" for a footnote. */
  readonly target: string;
}

/** The text after the label decides: `(target)`, `[reference]`, or nothing for a shortcut. */
function resolveLink(
  text: string,
  label: string,
  close: number,
  references: ReadonlyMap<string, string>,
): ResolvedLink | null {
  let next = close + 1;
  while (/[ \t\n]/.test(text[next] ?? "")) next++;
  if (text[next] === "(") {
    const end = /(?<!\\)\)/g;
    end.lastIndex = next + 1;
    const closing = end.exec(text);
    if (closing === null) return null;
    const target = inlineTarget(text.slice(next + 1, closing.index));
    return { start: next, end: closing.index + 1, target };
  }
  if (text[next] === "[") {
    const end = text.indexOf("]", next);
    if (end < 0) return null;
    const id = text.slice(next + 1, end);
    if (id.startsWith("^")) return { start: next, end: end + 1, target: id };
    const target = references.get(referenceId(id === "" ? label : id));
    return target === undefined ? null : { start: next, end: end + 1, target };
  }
  const target = references.get(referenceId(label));
  return target === undefined ? null : { start: next, end: close + 1, target };
}

/** The target of an inline link, without title, angle brackets and backslashes. */
function inlineTarget(inside: string): string {
  const target = inside.replace(/["'][\s\S]*["'][ \t\n]*$/, "").trim();
  return target.replace(/^</, "").replace(/>$/, "").replaceAll("\\", "");
}
