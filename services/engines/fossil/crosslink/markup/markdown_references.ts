/** Takes the definitions of references and footnotes out of Markdown. */
import { TextMap } from "../../text/mod.ts";

const FOOTNOTE = /^\[\^([^\]\r\n\u2028\u2029]+)\]:(.*(?:\r?\n {2}.*)*)/gm;
/** The label of a reference and the blanks after it; its target may stand on the next line. */
const LABEL = / {0,3}\[(?!\^)([^\]\r\n]*)\]:[ \t]*(?:\r?\n[ \t]*)?/y;
/** One run of characters, or of blanks. */
const RUN = /[^ \t\r\n]*/y;
const BLANKS = /[ \t]*/y;
const LINE_END = /\r?\n|$/g;

/** The definitions of a text, by the normalized name. */
export interface Definitions {
  /** Targets of references. */
  readonly references: ReadonlyMap<string, string>;
  /** Texts of footnotes. */
  readonly footnotes: Map<string, string>;
  /** The text without its definitions. */
  readonly body: string;
}

/** The name of a reference as it is compared: without case, with single spaces. */
export function referenceId(text: string): string {
  return text.trim().replace(/[ \t\n]+/g, " ").toLowerCase();
}

/** Reads and removes the definitions, which may stand anywhere. The time is linear in the text. */
export function takeDefinitions(text: string): Definitions {
  const references = new TextMap<string>();
  const footnotes = new TextMap<string>();
  const parts: string[] = [];
  let kept = 0;
  for (let line = 0; line < text.length;) {
    const reference = referenceAt(text, line);
    if (reference !== null) {
      const id = referenceId(reference.label);
      if (!references.has(id)) references.set(id, reference.target);
      parts.push(text.slice(kept, line));
      kept = reference.end;
    }
    const isNextLine = kept > line && text[kept - 1] === "\n";
    line = isNextLine ? kept : text.indexOf("\n", Math.max(line, kept)) + 1;
    if (line === 0) break;
  }
  parts.push(text.slice(kept));
  const body = parts.join("").replace(FOOTNOTE, (_, id: string, note: string) => {
    footnotes.set(referenceId(id), note.replace(/^[ \t]+/, ""));
    return "";
  });
  return { references, footnotes, body };
}

interface Definition {
  readonly target: string;
  /** Position after the definition. */
  readonly end: number;
}

/** The definition of a reference at the beginning of a line. */
function referenceAt(text: string, line: number): (Definition & { label: string }) | null {
  LABEL.lastIndex = line;
  const match = LABEL.exec(text);
  if (match === null) return null;
  const start = line + match[0].length;
  const inside = text[start] === "<" ? targetAt(text, start + 1) : null;
  const definition = inside ?? targetAt(text, start);
  return definition === null ? null : { ...definition, label: match[1] ?? "" };
}

/** A target of at least one character, then nothing or a title up to the end of the line. */
function targetAt(text: string, start: number): Definition | null {
  const runEnd = endOf(RUN, text, start);
  if (runEnd === start) return null;
  const line = lineAt(text, start);
  const cut = (end: number) => end > start + 1 && text[end - 1] === ">" ? end - 1 : end;
  if (line.closesTitle) {
    for (let i = start + 1; i < runEnd && i < line.last; i++) {
      if (opensTitle(text[i])) return { target: text.slice(start, cut(i)), end: line.next };
    }
  }
  const target = text.slice(start, cut(runEnd));
  const next = endOf(BLANKS, text, runEnd);
  if (next === line.end) return { target, end: endAfterTarget(text, line) };
  const hasTitle = opensTitle(text[next]) && line.closesTitle && next < line.last;
  return hasTitle ? { target, end: line.next } : null;
}

/** Position after a definition whose title may stand on the next line. */
function endAfterTarget(text: string, line: Line): number {
  if (line.next === line.end) return line.end;
  const start = endOf(BLANKS, text, line.next);
  const title = lineAt(text, start);
  const hasTitle = opensTitle(text[start]) && title.closesTitle && start < title.last;
  return hasTitle ? title.end : start;
}

interface Line {
  /** Position of the last character that is not blank. */
  readonly last: number;
  /** Position of the line break. */
  readonly end: number;
  /** Position of the next line. */
  readonly next: number;
  readonly closesTitle: boolean;
}

function lineAt(text: string, start: number): Line {
  LINE_END.lastIndex = start;
  const match = LINE_END.exec(text);
  const end = match?.index ?? text.length;
  let last = end - 1;
  while (last >= start && (text[last] === " " || text[last] === "\t")) last--;
  const closesTitle = last >= start && "\"')".includes(text[last]!);
  return { last, end, next: end + (match?.[0].length ?? 0), closesTitle };
}

function opensTitle(character: string | undefined): boolean {
  return character === '"' || character === "'" || character === "(";
}

function endOf(pattern: RegExp, text: string, start: number): number {
  pattern.lastIndex = start;
  return start + (pattern.exec(text)?.[0].length ?? 0);
}
