/** The kind of a statement, from its first words as SQLite's tokenizer separates them. */
import { closedPragma, isHarmlessPragma, notReadOnly } from "./readable.ts";
import { Refusal } from "./types.ts";

/** A statement whose kind is known. */
export interface Statement {
  readonly kind: "query" | "explain" | "pragma";
  /** The text. */
  readonly text: string;
  /** The query whose program decides: of `EXPLAIN`, the explained one; of a pragma, none. */
  readonly query: string | null;
}

const SPACE = /[ \t\n\f\r]+/y;
const WORD = /[A-Za-z]+/y;
/** The name of a pragma, `main.` before it, and what follows it. */
const PRAGMA = /^(?:main\.)?([a-z_]+)(\((?:[A-Za-z0-9_]+|'[^']*'|"[^"]*")\))?;?$/i;

const QUERIES: ReadonlySet<string> = new Set(["SELECT", "VALUES", "WITH"]);

/**
 * Finds out what a text is. A pragma can act while SQLite only prepares it, so it is judged here.
 *
 * @throws {Refusal} The text is no statement that reads.
 */
export function parseStatement(text: string): Statement {
  if (text.includes("\0")) throw new Refusal("invalid", "The statement holds a NUL character");
  if (isEmpty(text)) throw new Refusal("invalid", "The statement is empty");
  switch (firstWord(text)) {
    case "PRAGMA": {
      const [, name, argument] = PRAGMA.exec(withoutGaps(text.slice(endOfWord(text)))) ?? [];
      if (name === undefined) throw closedPragma();
      if (!isHarmlessPragma(name.toLowerCase(), argument !== undefined)) throw closedPragma();
      return { kind: "pragma", text, query: null };
    }
    case "EXPLAIN": {
      const query = text.slice(endOfExplain(text));
      if (!isQuery(query)) throw notReadOnly();
      return { kind: "explain", text, query };
    }
    default:
      if (!isQuery(text)) throw notReadOnly();
      return { kind: "query", text, query: text };
  }
}

/** Checks that nothing but space follows the first statement of a text. */
export function requireSingle(text: string, first: string): void {
  if (text.startsWith(first) && isEmpty(text.slice(first.length))) return;
  throw new Refusal(
    "invalid",
    "sql_query runs one statement at a time: remove what follows the first",
  );
}

function isQuery(text: string): boolean {
  return QUERIES.has(firstWord(text) ?? "");
}

function firstWord(text: string): string | undefined {
  return wordAt(text, endOfGaps(text, 0, true))?.toUpperCase();
}

/** The place after the first word. */
function endOfWord(text: string): number {
  const start = endOfGaps(text, 0, true);
  return start + (wordAt(text, start)?.length ?? 0);
}

/** The place after `EXPLAIN` or `EXPLAIN QUERY PLAN`. */
function endOfExplain(text: string): number {
  const end = endOfWord(text);
  let at = end;
  for (const wanted of ["QUERY", "PLAN"]) {
    const start = endOfGaps(text, at, false);
    const word = wordAt(text, start);
    if (start === at || word?.toUpperCase() !== wanted) return end;
    at = start + word.length;
  }
  return at;
}

function wordAt(text: string, start: number): string | undefined {
  WORD.lastIndex = start;
  return WORD.exec(text)?.[0];
}

/** Whether a text has only gaps and empty statements. */
function isEmpty(text: string): boolean {
  return endOfGaps(text, 0, true) === text.length;
}

/**
 * The place after space and comments, as in SQLite: a comment ends with its line, or with `*` and
 * `/`. Takes time in proportion to the text.
 *
 * @param withEmpty whether empty statements are skipped too
 */
function endOfGaps(text: string, start: number, withEmpty: boolean): number {
  let at = start;
  for (;;) {
    const end = endOfGap(text, at);
    if (end > at) at = end;
    else if (withEmpty && text[at] === ";") at++;
    else return at;
  }
}

/** The place after one gap; the same place if there is none. */
function endOfGap(text: string, start: number): number {
  if (text.startsWith("--", start)) {
    const end = text.indexOf("\n", start);
    return end < 0 ? text.length : end + 1;
  }
  if (text.startsWith("/*", start)) {
    const end = text.indexOf("*/", start + 2);
    return end < 0 ? start : end + 2;
  }
  SPACE.lastIndex = start;
  return start + (SPACE.exec(text)?.[0].length ?? 0);
}

/** A text without its gaps, except for those inside quotes. */
function withoutGaps(text: string): string {
  let rest = "";
  for (let at = endOfGaps(text, 0, false); at < text.length; at = endOfGaps(text, at, false)) {
    const quote = text[at];
    const end = quote === "'" || quote === '"' ? text.indexOf(quote, at + 1) : at;
    const next = end < 0 ? text.length : end + 1;
    rest += text.slice(at, next);
    at = next;
  }
  return rest;
}
