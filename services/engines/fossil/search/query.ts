import { FossilError } from "../error.ts";

/** Longest query, in UTF-16 units. */
const MAX_QUERY = 1000;
/** Most words and phrases of a query. */
const MAX_TERMS = 32;

/** A word or a phrase, with `-` before it to exclude it and `*` behind it for any ending. */
const TERM = /(-?)(?:"([^"]*)"?|([^\s"]+))(\*?)/gu;
const HAS_WORD = /[\p{L}\p{N}\p{Co}]/u;

/**
 * Turns user input into an expression of SQLite's FTS5. The expression is always well formed: every
 * term is quoted, so that no operator of FTS5 remains.
 *
 * @returns null if the input has no search word.
 * @throws {FossilError} `invalid` if the query is too long.
 */
export function matchExpression(query: string): string | null {
  if (query.length > MAX_QUERY) {
    throw new FossilError("invalid", `A query has at most ${MAX_QUERY} characters`);
  }
  const [wanted, unwanted]: [string[], string[]] = [[], []];
  for (const [, minus, phrase, word = "", star] of query.matchAll(TERM)) {
    const hasStar = star === "*" || (phrase === undefined && word.endsWith("*"));
    const text = (phrase ?? word).replaceAll("\0", " ");
    if (!HAS_WORD.test(text)) continue;
    const quoted = `"${text.replaceAll('"', '""')}"${hasStar ? "*" : ""}`;
    (minus === "-" ? unwanted : wanted).push(quoted);
  }
  if (wanted.length + unwanted.length > MAX_TERMS) {
    throw new FossilError("invalid", `A query has at most ${MAX_TERMS} words`);
  }
  if (wanted.length === 0) return null;
  const all = wanted.join(" AND ");
  return unwanted.length === 0 ? all : `(${all}) NOT (${unwanted.join(" OR ")})`;
}
