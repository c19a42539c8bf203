import type { Migration } from "./migration.ts";

/** The version that {@linkcode FIRST_SCHEMA} makes. Older ones were never released. */
export const FIRST_VERSION = 15;

/** @param id the SQL of a random name of 20 characters */
function tables(id: string): string {
  return `
  CREATE TABLE accounts (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    name_folded TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL CHECK (kind IN ('agent', 'person', 'admin')),
    secret_scheme TEXT NOT NULL CHECK (secret_scheme IN ('sha256', 'argon2id')),
    secret TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
  ) STRICT;

  CREATE TABLE agents (
    account_id TEXT PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
    type TEXT NOT NULL,
    channels TEXT NOT NULL,
    registered_at INTEGER NOT NULL,
    last_seen INTEGER,
    paused_at INTEGER,
    pause_reason TEXT,
    messages_per_second REAL,
    burst INTEGER
  ) STRICT;

  CREATE TABLE tokens (
    id TEXT PRIMARY KEY,
    owner_id TEXT REFERENCES accounts (id) ON DELETE CASCADE,
    project_id TEXT,
    name TEXT NOT NULL,
    scopes TEXT NOT NULL,
    token_hash TEXT NOT NULL UNIQUE,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    last_used INTEGER
  ) STRICT;
  CREATE INDEX tokens_of_owner ON tokens (owner_id);

  CREATE TABLE settings (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
  ) STRICT;

  CREATE TABLE events (
    seq INTEGER PRIMARY KEY,
    time INTEGER NOT NULL,
    type TEXT NOT NULL,
    actor TEXT NOT NULL,
    actor_id TEXT,
    address TEXT,
    cause TEXT,
    data TEXT NOT NULL,
    hash TEXT NOT NULL
  ) STRICT;

  CREATE TABLE checkpoints (
    name TEXT PRIMARY KEY CHECK (name IN ('base', 'head')),
    seq INTEGER NOT NULL,
    hash TEXT NOT NULL,
    seal TEXT NOT NULL
  ) STRICT;

  CREATE TABLE web_sessions (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    secret_hash TEXT NOT NULL UNIQUE,
    created_at INTEGER NOT NULL,
    last_used INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX web_sessions_of_account ON web_sessions (account_id);

  CREATE TABLE llm_backends (
    name TEXT PRIMARY KEY,
    provider TEXT NOT NULL,
    base_url TEXT NOT NULL,
    api_key_env TEXT NOT NULL,
    models TEXT NOT NULL,
    allow TEXT NOT NULL,
    block TEXT NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE llm_model_lists (
    backend TEXT PRIMARY KEY,
    asked TEXT NOT NULL,
    models TEXT NOT NULL,
    queried_at INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE network_accounts (
    name_folded TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    account_id TEXT UNIQUE,
    made INTEGER NOT NULL,
    salt TEXT,
    next_salt TEXT,
    unsettled_since INTEGER,
    channels TEXT NOT NULL,
    marked INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE INDEX unsettled_network_accounts ON network_accounts (unsettled_since)
    WHERE unsettled_since IS NOT NULL;

  CREATE TABLE irc_bans (
    id TEXT PRIMARY KEY,
    mask TEXT NOT NULL,
    mask_folded TEXT NOT NULL UNIQUE,
    account_id TEXT REFERENCES accounts (id) ON DELETE CASCADE,
    reason TEXT NOT NULL,
    set_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER
  ) STRICT;
  CREATE INDEX irc_bans_of_account ON irc_bans (account_id);

  CREATE TABLE read_markers (
    account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    target TEXT NOT NULL,
    time INTEGER NOT NULL,
    PRIMARY KEY (account_id, target)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE scram_verifiers (
    account_id TEXT PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
    secret TEXT NOT NULL,
    salt TEXT NOT NULL,
    iterations INTEGER NOT NULL,
    stored_key TEXT NOT NULL,
    server_key TEXT NOT NULL
  ) STRICT;

  CREATE TABLE irc_channels (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    name_folded TEXT NOT NULL UNIQUE,
    founder_id TEXT REFERENCES accounts (id) ON DELETE SET NULL,
    registered_at INTEGER NOT NULL,
    state TEXT NOT NULL
  ) STRICT;
  CREATE INDEX irc_channels_of_founder ON irc_channels (founder_id);

  CREATE TABLE irc_channel_access (
    channel_id TEXT NOT NULL REFERENCES irc_channels (id) ON DELETE CASCADE,
    account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    status TEXT NOT NULL CHECK (status IN ('operator', 'voice')),
    PRIMARY KEY (channel_id, account_id)
  ) STRICT;
  CREATE INDEX irc_channel_access_of_account ON irc_channel_access (account_id);

  CREATE TABLE bridge_channels (
    name_folded TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    opener_id TEXT REFERENCES accounts (id) ON DELETE SET NULL
  ) STRICT;
  CREATE INDEX bridge_channels_of_opener ON bridge_channels (opener_id);

  CREATE TABLE agent_channels (
    account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    name_folded TEXT NOT NULL,
    name TEXT NOT NULL,
    noted_at INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (account_id, name_folded)
  ) STRICT;

  CREATE TABLE inbox_messages (
    account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    time INTEGER NOT NULL,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    sender TEXT NOT NULL,
    about TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (account_id, time)
  ) STRICT;
  CREATE INDEX inbox_messages_by_id ON inbox_messages (id);

  CREATE TABLE instance (id TEXT PRIMARY KEY) STRICT;
  INSERT INTO instance (id) VALUES (${id});
`;
}

/** The oldest tables: accounts, events, and what IRC and the bridge keep. */
export const FIRST_SCHEMA: Migration = {
  sqlite: tables("lower(hex(randomblob(10)))"),
  postgres: tables("left(md5(gen_random_uuid()::text), 20)"),
};
