import { FIRST_SCHEMA, FIRST_VERSION } from "./first_schema.ts";
import {
  CHECK_RUN_TABLES,
  MIRROR_TABLE,
  PROJECT_TABLES,
  WORK_TABLES,
} from "./hosting_migrations.ts";
import type { Migration } from "./migration.ts";

/** What several servers with one database need, and the node that has each project. */
const NODE_TABLES = `
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

/**
 * The history of the app database's schema. Append only: the version of a database is the number of
 * applied entries. The first ones are empty, because no database needs them any more.
 */
export const MIGRATIONS: readonly Migration[] = Object.freeze([
  ...Array<string>(FIRST_VERSION - 1).fill(""),
  FIRST_SCHEMA,
  PROJECT_TABLES,
  WORK_TABLES,
  `
  CREATE INDEX events_by_type ON events (type, seq);
  `,
  `
  CREATE TABLE event_cursors (name TEXT PRIMARY KEY, seq INTEGER NOT NULL) STRICT;
  `,
  MIRROR_TABLE,
  `
  CREATE INDEX reviews_by_change ON reviews (status, updated_at);
  CREATE INDEX landings_by_end ON landings (status, ended_at);
  CREATE INDEX checks_by_change ON checks (state, updated_at);
  `,
  `
  CREATE TABLE irc_unregistered_channels (
    name_folded TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    state TEXT NOT NULL,
    founder_id TEXT,
    member_ids TEXT NOT NULL,
    empty_since INTEGER
  ) STRICT;
  `,
  `
  CREATE TABLE irc_mutes (
    subject TEXT NOT NULL,
    channel_folded TEXT NOT NULL,
    channel TEXT NOT NULL,
    nick TEXT NOT NULL,
    account_id TEXT REFERENCES accounts (id) ON DELETE CASCADE,
    bot TEXT NOT NULL,
    reason TEXT NOT NULL,
    set_by TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (subject, channel_folded)
  ) STRICT;
  CREATE INDEX irc_mutes_of_account ON irc_mutes (account_id);
  `,
  `
  CREATE TABLE bot_state (
    bot TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (bot, key)
  ) STRICT;
  `,
  `
  CREATE TABLE halts (
    scope TEXT NOT NULL,
    subject TEXT NOT NULL,
    halted INTEGER NOT NULL,
    reason TEXT,
    halted_by TEXT NOT NULL,
    since INTEGER NOT NULL,
    PRIMARY KEY (scope, subject)
  ) STRICT;
  ALTER TABLE claims ADD COLUMN frozen_at INTEGER;
  `,
  `
  ALTER TABLE inbox_messages ADD COLUMN state TEXT NOT NULL DEFAULT 'delivered';
  ALTER TABLE inbox_messages ADD COLUMN state_at INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE inbox_messages ADD COLUMN held INTEGER NOT NULL DEFAULT 1;
  ALTER TABLE inbox_messages ADD COLUMN sender_id TEXT;
  ALTER TABLE inbox_messages ADD COLUMN client_id TEXT;
  ALTER TABLE inbox_messages ADD COLUMN expires_at INTEGER;
  UPDATE inbox_messages SET held = 0 WHERE kind = 'redacted';
  CREATE INDEX inbox_messages_by_client_id ON inbox_messages (sender_id, client_id)
    WHERE client_id IS NOT NULL;
  CREATE INDEX inbox_messages_by_expiry ON inbox_messages (expires_at)
    WHERE state = 'queued' AND expires_at IS NOT NULL;
  `,
  `
  CREATE TABLE questions (
    id INTEGER PRIMARY KEY,
    asker_id TEXT,
    asker TEXT NOT NULL,
    text TEXT NOT NULL,
    choices TEXT NOT NULL,
    default_answer TEXT,
    asked_at INTEGER NOT NULL,
    deadline INTEGER,
    frozen_at INTEGER,
    to_id TEXT,
    to_name TEXT,
    project_id TEXT,
    ticket TEXT,
    state TEXT NOT NULL,
    answer TEXT,
    closed_by_id TEXT,
    closed_by TEXT,
    via TEXT,
    closed_at INTEGER,
    notice TEXT
  ) STRICT;
  CREATE INDEX questions_open ON questions (id) WHERE state = 'open';
  CREATE INDEX questions_by_asker ON questions (asker_id, id);
  CREATE INDEX questions_to ON questions (to_id, id) WHERE to_id IS NOT NULL;
  CREATE INDEX questions_by_project ON questions (project_id, id) WHERE project_id IS NOT NULL;
  CREATE INDEX questions_untold ON questions (id) WHERE notice IS NOT NULL;
  `,
  `
  CREATE TABLE llm_calls (
    seq INTEGER PRIMARY KEY,
    ended_at INTEGER NOT NULL,
    milliseconds INTEGER NOT NULL,
    caller_key TEXT NOT NULL,
    caller_name TEXT NOT NULL,
    project_id TEXT NOT NULL,
    project TEXT NOT NULL,
    ticket TEXT NOT NULL,
    backend TEXT NOT NULL,
    model TEXT NOT NULL,
    response_model TEXT NOT NULL,
    streamed INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    input_tokens INTEGER,
    output_tokens INTEGER,
    cached_tokens INTEGER,
    cost INTEGER,
    estimated_tokens INTEGER NOT NULL,
    estimated_cost INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX llm_calls_by_end ON llm_calls (ended_at);
  CREATE INDEX llm_calls_by_caller ON llm_calls (caller_key, seq);

  CREATE TABLE llm_usage (
    day INTEGER NOT NULL,
    caller_key TEXT NOT NULL,
    caller_name TEXT NOT NULL,
    caller_type TEXT NOT NULL,
    project_id TEXT NOT NULL,
    project TEXT NOT NULL,
    ticket TEXT NOT NULL,
    backend TEXT NOT NULL,
    model TEXT NOT NULL,
    calls INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    cancelled INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cached_tokens INTEGER NOT NULL,
    cost INTEGER NOT NULL,
    unpriced INTEGER NOT NULL,
    estimated_tokens INTEGER NOT NULL,
    estimated_cost INTEGER NOT NULL,
    milliseconds INTEGER NOT NULL,
    PRIMARY KEY (day, caller_key, project_id, ticket, backend, model)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX llm_usage_by_caller ON llm_usage (caller_key, day);

  CREATE TABLE llm_budgets (
    scope TEXT NOT NULL,
    subject TEXT NOT NULL,
    period TEXT NOT NULL,
    max_cost INTEGER,
    max_tokens INTEGER,
    warn_percent INTEGER NOT NULL,
    set_by TEXT NOT NULL,
    set_at INTEGER NOT NULL,
    warned_at INTEGER,
    exceeded_at INTEGER,
    PRIMARY KEY (scope, subject, period)
  ) STRICT;

  ALTER TABLE agents ADD COLUMN slots TEXT;
  `,
  `
  CREATE TABLE herald_deliveries (
    seq INTEGER PRIMARY KEY,
    mark TEXT NOT NULL UNIQUE,
    at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX herald_deliveries_by_time ON herald_deliveries (at);
  `,
  NODE_TABLES,
  `
  ALTER TABLE repository_cursors ADD COLUMN project_code TEXT;
  `,
  `
  CREATE TABLE newest_reports (
    project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    checkin TEXT NOT NULL,
    context TEXT NOT NULL,
    reporter_key TEXT NOT NULL,
    reporter_name TEXT NOT NULL,
    reporter_kind TEXT NOT NULL,
    state TEXT NOT NULL,
    report_id TEXT NOT NULL,
    PRIMARY KEY (project_id, checkin, context, reporter_key)
  ) STRICT, WITHOUT ROWID;
  `,
  `
  CREATE TABLE virtual_users (
    account_id TEXT PRIMARY KEY,
    called_at INTEGER NOT NULL
  ) STRICT;
  `,
  `
  DROP INDEX inbox_messages_by_client_id;
  UPDATE inbox_messages SET client_id = NULL WHERE client_id IS NOT NULL AND EXISTS (
    SELECT 1 FROM inbox_messages AS earlier
    WHERE earlier.sender_id = inbox_messages.sender_id
      AND earlier.client_id = inbox_messages.client_id
      AND earlier.account_id = inbox_messages.account_id
      AND earlier.time < inbox_messages.time
  );
  CREATE UNIQUE INDEX inbox_messages_by_client_id
    ON inbox_messages (sender_id, client_id, account_id) WHERE client_id IS NOT NULL;
  `,
  `
  CREATE INDEX check_history_by_time ON check_history (reported_at);
  CREATE INDEX checks_by_time ON checks (updated_at);
  CREATE INDEX claims_by_end ON claims (ended_at) WHERE ended_at IS NOT NULL;
  CREATE INDEX landings_by_time ON landings (ended_at) WHERE ended_at IS NOT NULL;
  CREATE INDEX landings_of_review ON landings (review_id, target_branch, id);
  CREATE INDEX ended_reviews ON reviews (updated_at) WHERE status IN ('merged', 'closed');
  CREATE INDEX ended_workspaces ON workspaces (updated_at) WHERE status <> 'active';
  CREATE INDEX finished_webhook_deliveries ON webhook_deliveries (finished_at)
    WHERE finished_at IS NOT NULL;
  CREATE TABLE stored_bytes (
    project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    actor_key TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    PRIMARY KEY (project_id, actor_key)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX stored_bytes_of_actor ON stored_bytes (actor_key, bytes);
  `,
  `
  ALTER TABLE landings ADD COLUMN asked_by TEXT;
  `,
  `
  ALTER TABLE project_mirrors ADD COLUMN pull_git_url TEXT;
  ALTER TABLE project_mirrors ADD COLUMN pull_git_username TEXT;
  ALTER TABLE project_mirrors ADD COLUMN pull_git_secret TEXT;
  CREATE TABLE project_mirror_refs (
    project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    ref TEXT NOT NULL,
    object TEXT NOT NULL,
    PRIMARY KEY (project_id, ref)
  ) STRICT, WITHOUT ROWID;
  `,
  `
  CREATE TABLE signing_keys (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    fingerprint TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    public_key TEXT NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX signing_keys_of_account ON signing_keys (account_id);
  `,
  `
  CREATE TABLE ticket_numbers (
    project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    ticket TEXT NOT NULL,
    PRIMARY KEY (project_id, number),
    UNIQUE (project_id, ticket)
  ) STRICT, WITHOUT ROWID;
  `,
  `
  ALTER TABLE llm_calls ADD COLUMN cache_write_tokens INTEGER;
  ALTER TABLE llm_usage ADD COLUMN cache_write_tokens INTEGER NOT NULL DEFAULT 0;
  `,
  `
  ALTER TABLE llm_calls ADD COLUMN report TEXT;
  CREATE UNIQUE INDEX llm_calls_by_report ON llm_calls (report) WHERE report IS NOT NULL;
  `,
  `
  ALTER TABLE accounts ADD COLUMN agent_id TEXT REFERENCES accounts (id) ON DELETE CASCADE;
  CREATE INDEX accounts_of_agent ON accounts (agent_id) WHERE agent_id IS NOT NULL;
  CREATE TABLE agent_sessions (
    account_id TEXT PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
    agent_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    key_hash TEXT NOT NULL UNIQUE,
    began_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    closed_at INTEGER
  ) STRICT;
  CREATE INDEX sessions_of_agent ON agent_sessions (agent_id);
  `,
  `
  CREATE TABLE oauth_grants (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    client_id TEXT NOT NULL,
    client_name TEXT NOT NULL,
    redirect_uri TEXT NOT NULL,
    scopes TEXT NOT NULL,
    resource TEXT NOT NULL,
    challenge TEXT NOT NULL,
    secret_hash TEXT NOT NULL,
    is_redeemed INTEGER NOT NULL,
    token_id TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX oauth_grants_of_account ON oauth_grants (account_id);
  `,
  CHECK_RUN_TABLES,
]);
