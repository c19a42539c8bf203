/** Increase this whenever the tables below or their content change: older files are rebuilt. */
export const INDEX_VERSION = "2";

/**
 * Tables of the index. `doc` describes a text; the row of `fts` with the same id has the text.
 * `name` identifies a text when it changes: the row of a check-in, the id of a ticket, the title of
 * a page, the id of a technote, the hash of a post's first version, the path of a file.
 */
export const INDEX_SCHEMA = `
CREATE TABLE IF NOT EXISTS meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS doc(
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  hash TEXT NOT NULL,
  UNIQUE(kind, name)
);
CREATE VIRTUAL TABLE IF NOT EXISTS fts USING fts5(
  title, body, tokenize='unicode61 remove_diacritics 2'
);
`;
