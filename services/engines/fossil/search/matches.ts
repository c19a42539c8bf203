import type { Database } from "../content/mod.ts";
import {
  pageOf,
  type Reader,
  readForumPost,
  readRef,
  readTechnote,
  readTicketRef,
} from "../read/mod.ts";
import type { SearchKind, SearchMatch, SearchOptions, SearchPage } from "./shapes.ts";

/** Most matches of a page. */
const MAX_PAGE = 100;
/** Characters that FTS5 puts around matches: from the private use area, so that texts lack them. */
const OPEN = "\u{f0000}";
const CLOSE = "\u{f0001}";
/** Words of a snippet. */
const SNIPPET_WORDS = 24;
/** Longest line of code that is shown, in UTF-16 units. */
const MAX_LINE = 200;
/** Weight of a word in the title against one in the text. */
const RANK = "bm25(fts, 5.0, 1.0)";

interface Row {
  readonly id: number;
  readonly kind: SearchKind;
  readonly name: string;
  readonly hash: string;
}

/** How many texts match an FTS5 expression, by kind; a kind without a match is absent. */
export function countMatches(index: Database, expression: string): Map<SearchKind, number> {
  const rows = index.rows<{ kind: SearchKind; count: number }>(
    "SELECT kind, count(*) AS count FROM fts JOIN doc ON doc.id=fts.rowid WHERE fts MATCH ? GROUP BY kind",
    expression,
  );
  return new Map(rows.map(({ kind, count }) => [kind, count]));
}

/**
 * A page of matches of an FTS5 expression. Both databases need a transaction, or none.
 *
 * @param counts what `countMatches` gives for the expression
 */
export function findMatches(
  index: Database,
  reader: Reader,
  { expression, counts }: {
    readonly expression: string;
    readonly counts: ReadonlyMap<SearchKind, number>;
  },
  options: SearchOptions,
): SearchPage {
  const { limit, offset } = pageOf(options);
  const kinds = options.kinds ?? [...counts.keys()];
  const total = kinds.reduce((sum, kind) => sum + (counts.get(kind) ?? 0), 0);
  if (total <= offset) return { matches: [], total };
  const places = kinds.map(() => "?").join(",");
  const rows = index.rows<Row>(
    `SELECT doc.id, kind, name, hash FROM fts JOIN doc ON doc.id=fts.rowid
      WHERE fts MATCH ? AND kind IN (${places})
      ORDER BY ${RANK}, doc.id DESC LIMIT ? OFFSET ?`,
    expression,
    ...kinds,
    Math.min(limit, MAX_PAGE),
    offset,
  );
  const matches = rows.map((row) => matchOf(index, reader, expression, row))
    .filter((match): match is SearchMatch => match !== null);
  return { matches, total };
}

/** The result for a match; null if the repository no longer has it. */
function matchOf(
  index: Database,
  reader: Reader,
  expression: string,
  row: Row,
): SearchMatch | null {
  switch (row.kind) {
    case "checkin": {
      const ref = readRef(reader, Number(row.name));
      return ref && { kind: "checkin", ...ref, ...snippetOf(index, expression, row.id) };
    }
    case "ticket": {
      const ticket = readTicketRef(reader, row.name);
      if (ticket === null) return null;
      const { uuid, title, status, created } = ticket;
      const snippet = snippetOf(index, expression, row.id);
      return { kind: "ticket", uuid, title, status, created, ...snippet };
    }
    case "wiki": {
      const rid = reader.repository.store.ridOf(row.hash);
      const ref = readRef(reader, rid);
      if (ref === null) return null;
      const snippet = snippetOf(index, expression, row.id);
      return { kind: "wiki", name: row.name, last_modified: ref.timestamp, ...snippet };
    }
    case "technote": {
      const note = readTechnote(reader, row.name);
      const { id, comment, last_modified } = note;
      return {
        kind: "technote",
        id,
        comment,
        last_modified,
        ...snippetOf(index, expression, row.id),
      };
    }
    case "forum": {
      const { uuid, title, last_modified } = readForumPost(reader, row.name);
      const snippet = snippetOf(index, expression, row.id);
      return { kind: "forum", uuid, title, last_modified, ...snippet };
    }
    case "code": {
      const { line, ...snippet } = lineOf(index, expression, row.id);
      const checkin = index.value<string>("SELECT value FROM meta WHERE key='tip'") ?? "";
      return { kind: "code", checkin, path: row.name, uuid: row.hash, line, ...snippet };
    }
  }
}

type Snippet = Pick<SearchMatch, "snippet" | "highlights">;

/**
 * The passage with the most search words. The id is bound as an integer: FTS5 ignores a condition
 * on `rowid` that is bound as REAL.
 */
function snippetOf(index: Database, expression: string, id: number): Snippet {
  const marked = index.value<string>(
    `SELECT snippet(fts, -1, '${OPEN}', '${CLOSE}', '…', ${SNIPPET_WORDS}) FROM fts
      WHERE fts MATCH ? AND rowid=?`,
    expression,
    BigInt(id),
  );
  return unmark(marked ?? "");
}

/** The line of the first match in a file; the first one if only the path matches. */
function lineOf(index: Database, expression: string, id: number): Snippet & { line: number } {
  const marked = index.value<string>(
    `SELECT highlight(fts, 1, '${OPEN}', '${CLOSE}') FROM fts WHERE fts MATCH ? AND rowid=?`,
    expression,
    BigInt(id),
  ) ?? "";
  const first = marked.indexOf(OPEN);
  if (first < 0) return { line: 1, ...snippetOf(index, expression, id) };
  const start = marked.lastIndexOf("\n", first) + 1;
  const end = marked.indexOf("\n", first);
  const text = marked.slice(start, end < 0 ? undefined : end);
  let line = 1;
  for (let at = marked.indexOf("\n"); at >= 0 && at < first; at = marked.indexOf("\n", at + 1)) {
    line++;
  }
  return { line, ...unmark(around(text, first - start)) };
}

/** Text without white space at its ends; a long text is cut around a position. */
function around(text: string, place: number): string {
  if (text.length <= MAX_LINE) return text.trim();
  const start = Math.max(0, place - MAX_LINE / 4);
  return text.slice(start, start + MAX_LINE).trim();
}

/** Removes the marks from a text, and returns their positions. */
function unmark(marked: string): Snippet {
  const highlights: [number, number][] = [];
  let snippet = "";
  for (const part of marked.split(OPEN).entries()) {
    const [i, text] = part;
    const [found, rest] = i === 0 ? ["", text] : splitAt(text, CLOSE);
    if (i > 0) highlights.push([snippet.length, snippet.length + found.length]);
    snippet += found + rest.replaceAll(CLOSE, "");
  }
  return { snippet, highlights };
}

function splitAt(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + mark.length)];
}
