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

/** Space, comments and empty statements, as in SQLite; a comment ends with its line or `*` and `/`. */
const GAP = String.raw`(?:[ \t\n\f\r]|--[^\n]*(?:\n|$)|/\*[^]*?\*/)`;
const FIRST_WORD = new RegExp(`^(?:${GAP}|;)*([A-Za-z]+)`);
const EXPLAIN = new RegExp(
  `^(?:${GAP}|;)*EXPLAIN(?:${GAP}+QUERY${GAP}+PLAN)?(?=[^A-Za-z0-9_$])`,
  "i",
);
const PRAGMA = new RegExp(
  `^(?:${GAP}|;)*PRAGMA${GAP}+(?:main${GAP}*\\.${GAP}*)?([a-z_]+)${GAP}*` +
    `(?:(\\(${GAP}*(?:[A-Za-z0-9_]+|'[^']*'|"[^"]*")${GAP}*\\))${GAP}*)?[;]?${GAP}*$`,
  "i",
);
const ONLY_GAPS = new RegExp(`^(?:${GAP}|;)*$`);

const QUERIES: ReadonlySet<string> = new Set(["SELECT", "VALUES", "WITH"]);

/**
 * Finds out what a text is. A pragma can act while SQLite only prepares it, so it is judged here.
 *
 * @throws {Refusal} The text is no statement that reads.
 */
export function parseStatement(text: string): Statement {
  if (text.includes("\0")) throw new Refusal("invalid", "The statement holds a NUL character");
  if (ONLY_GAPS.test(text)) throw new Refusal("invalid", "The statement is empty");
  switch (firstWord(text)) {
    case "PRAGMA": {
      const [, name, argument] = PRAGMA.exec(text) ?? [];
      if (name === undefined) throw closedPragma();
      if (!isHarmlessPragma(name.toLowerCase(), argument !== undefined)) throw closedPragma();
      return { kind: "pragma", text, query: null };
    }
    case "EXPLAIN": {
      const query = text.replace(EXPLAIN, "");
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
  if (text.startsWith(first) && ONLY_GAPS.test(text.slice(first.length))) return;
  throw new Refusal(
    "invalid",
    "sql_query runs one statement at a time: remove what follows the first",
  );
}

function isQuery(text: string): boolean {
  return QUERIES.has(firstWord(text) ?? "");
}

function firstWord(text: string): string | undefined {
  return FIRST_WORD.exec(text)?.[1]?.toUpperCase();
}
