/** What several servers with one database need, and the node that has each project. */
export const NODE_TABLES = `
  CREATE TABLE nodes (
    name TEXT PRIMARY KEY,
    url TEXT NOT NULL,
    version TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    drained_at INTEGER
  ) STRICT;

  ALTER TABLE projects ADD COLUMN home TEXT;

  CREATE TABLE node_bridges (
    node TEXT PRIMARY KEY REFERENCES nodes (name) ON DELETE CASCADE,
    nick TEXT NOT NULL,
    account TEXT
  ) STRICT;

  CREATE TABLE channel_lines (
    seq INTEGER PRIMARY KEY,
    channel TEXT NOT NULL,
    microseconds INTEGER NOT NULL,
    mark TEXT NOT NULL,
    id TEXT NOT NULL,
    nick TEXT NOT NULL,
    account TEXT,
    text TEXT NOT NULL,
    via TEXT,
    reply TEXT,
    heard_as INTEGER NOT NULL,
    UNIQUE (channel, id),
    UNIQUE (channel, microseconds)
  ) STRICT;
  CREATE INDEX channel_lines_by_mark ON channel_lines (channel, mark, seq);

  CREATE TABLE name_leases (
    name_folded TEXT PRIMARY KEY,
    node TEXT NOT NULL,
    expires_at INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE channel_visits (
    channel TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('presence', 'use')),
    visitor TEXT NOT NULL,
    nick TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (channel, kind, visitor)
  ) STRICT;

  CREATE TABLE inbox_posts (
    account_id TEXT NOT NULL,
    id TEXT NOT NULL,
    time INTEGER NOT NULL,
    entry TEXT NOT NULL,
    PRIMARY KEY (account_id, id)
  ) STRICT;
`;
