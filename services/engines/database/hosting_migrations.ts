import type { Migration } from "./migration.ts";

/**
 * The tables of repository hosting. They hold what a Fossil repository has no concept of; nothing is
 * in both. An account is `…_id`, its internal id, wherever only an account will do. Where the API
 * token may name anybody, an actor is a pair: `…_key`, by which it is compared, and `…_name`.
 */

/** @param projectOfEvent the column of an event's project */
function projectTables(projectOfEvent: string): string {
  return `
  CREATE TABLE projects (
    id TEXT PRIMARY KEY,
    slug TEXT NOT NULL,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    visibility TEXT NOT NULL CHECK (visibility IN ('public', 'internal', 'private')),
    channel TEXT,
    settings TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    archived_at INTEGER,
    removed_at INTEGER
  ) STRICT;
  CREATE UNIQUE INDEX projects_by_slug ON projects (slug) WHERE removed_at IS NULL;

  CREATE TABLE project_members (
    project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    role TEXT NOT NULL CHECK (role IN ('read', 'write', 'admin')),
    added_at INTEGER NOT NULL,
    PRIMARY KEY (project_id, account_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX project_members_of_account ON project_members (account_id);

  CREATE TABLE project_stars (
    project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    starred_at INTEGER NOT NULL,
    PRIMARY KEY (project_id, account_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX project_stars_of_account ON project_stars (account_id);

  CREATE TABLE repository_cursors (
    project_id TEXT PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE,
    last_rcvid INTEGER NOT NULL,
    last_rid INTEGER NOT NULL,
    phantoms INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE intentions (
    id TEXT PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    author TEXT NOT NULL,
    date INTEGER NOT NULL,
    origin TEXT NOT NULL,
    body TEXT NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX intentions_of_project ON intentions (project_id);

  ALTER TABLE events ADD COLUMN ${projectOfEvent};
  CREATE INDEX events_of_project ON events (project_id, seq) WHERE project_id IS NOT NULL;

  CREATE TABLE webhooks (
    id TEXT PRIMARY KEY,
    project_id TEXT REFERENCES projects (id) ON DELETE CASCADE,
    url TEXT NOT NULL,
    secret_version INTEGER NOT NULL,
    secret_since INTEGER NOT NULL,
    types TEXT NOT NULL,
    is_active INTEGER NOT NULL,
    cursor INTEGER NOT NULL,
    failing_since INTEGER,
    created_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX webhooks_of_project ON webhooks (project_id);

  CREATE TABLE webhook_deliveries (
    id TEXT PRIMARY KEY,
    webhook_id TEXT NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    event_seq INTEGER,
    type TEXT NOT NULL,
    body TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('pending', 'delivered', 'failed')),
    attempts INTEGER NOT NULL,
    next_attempt_at INTEGER,
    response_status INTEGER,
    error TEXT,
    milliseconds INTEGER,
    created_at INTEGER NOT NULL,
    finished_at INTEGER
  ) STRICT;
  CREATE INDEX webhook_deliveries_of_webhook ON webhook_deliveries (webhook_id, id);
  CREATE INDEX due_webhook_deliveries ON webhook_deliveries (next_attempt_at)
    WHERE next_attempt_at IS NOT NULL;
`;
}

/**
 * Projects, their members, and what ties each to its repository. SQLite reads the project of an
 * event from its data. PostgreSQL would refuse data with half of a character, so there the journal
 * writes it.
 */
export const PROJECT_TABLES: Migration = {
  sqlite: projectTables(`project_id TEXT GENERATED ALWAYS AS (
    CASE WHEN substr(type, 1, 8) = 'project.' AND json_valid(data)
      THEN CAST(json_extract(data, '$.project_id') AS TEXT) END
  ) VIRTUAL`),
  postgres: projectTables("project_id TEXT"),
};

/** Mirrors of projects: from an upstream Fossil repository, and in Git. */
export const MIRROR_TABLE = `
  CREATE TABLE project_mirrors (
    project_id TEXT PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE,
    git_url TEXT,
    git_username TEXT,
    git_secret TEXT,
    fossil_url TEXT,
    fossil_username TEXT,
    fossil_secret TEXT,
    every_minutes INTEGER NOT NULL,
    next_run_at INTEGER NOT NULL,
    last_run_at INTEGER,
    last_success_at INTEGER,
    last_error TEXT,
    failures INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX due_project_mirrors ON project_mirrors (next_run_at);
`;

/** Claims, workspaces, reviews, checks, landings, protection and releases. */
export const WORK_TABLES = `
  CREATE TABLE ticket_leases (
    project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    ticket TEXT NOT NULL,
    generation INTEGER NOT NULL,
    strikes INTEGER NOT NULL,
    PRIMARY KEY (project_id, ticket)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE claims (
    id TEXT PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    ticket TEXT NOT NULL,
    generation INTEGER NOT NULL,
    holder_key TEXT NOT NULL,
    holder_name TEXT NOT NULL,
    workspace TEXT,
    summary TEXT,
    files_changed TEXT,
    claimed_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    ended_at INTEGER,
    outcome TEXT CHECK (
      outcome IN ('released', 'submitted', 'merged', 'closed', 'lapsed', 'broken', 'revoked')
    ),
    UNIQUE (project_id, ticket, generation)
  ) STRICT;
  CREATE UNIQUE INDEX active_claims ON claims (project_id, ticket) WHERE ended_at IS NULL;
  CREATE INDEX active_claims_of_holder ON claims (holder_key) WHERE ended_at IS NULL;
  CREATE INDEX active_claims_by_end ON claims (expires_at) WHERE ended_at IS NULL;

  CREATE TABLE workspaces (
    id TEXT PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('active', 'merged', 'abandoned')),
    owner_key TEXT NOT NULL,
    owner_name TEXT NOT NULL,
    ticket TEXT,
    generation INTEGER,
    started_as TEXT NOT NULL,
    base TEXT NOT NULL,
    tip TEXT,
    merged_as TEXT,
    target_branch TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX active_workspaces ON workspaces (project_id, name)
    WHERE status = 'active';
  CREATE INDEX workspaces_by_name ON workspaces (project_id, name, id);
  CREATE INDEX active_workspaces_of_owner ON workspaces (owner_key) WHERE status = 'active';
  CREATE INDEX workspaces_of_ticket ON workspaces (project_id, ticket) WHERE ticket IS NOT NULL;

  CREATE TABLE workspace_overlaps (
    project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    one_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    other_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    one_tip TEXT NOT NULL,
    other_tip TEXT NOT NULL,
    paths TEXT NOT NULL,
    conflicts TEXT NOT NULL,
    notified_at INTEGER,
    PRIMARY KEY (one_id, other_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX workspace_overlaps_of_other ON workspace_overlaps (other_id);
  CREATE INDEX workspace_overlaps_of_project ON workspace_overlaps (project_id);

  CREATE TABLE reviews (
    id TEXT PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    title TEXT NOT NULL,
    description TEXT NOT NULL,
    status TEXT NOT NULL CHECK (
      status IN ('pending', 'approved', 'changes_requested', 'merged', 'closed')
    ),
    author_key TEXT NOT NULL,
    author_name TEXT NOT NULL,
    author_kind TEXT NOT NULL,
    workspace_id TEXT REFERENCES workspaces (id) ON DELETE CASCADE,
    workspace TEXT,
    ticket TEXT,
    target_branch TEXT NOT NULL,
    round INTEGER NOT NULL,
    diff TEXT,
    files_changed TEXT NOT NULL,
    comment_count INTEGER NOT NULL,
    merged_as TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    UNIQUE (project_id, number)
  ) STRICT;
  CREATE INDEX reviews_by_status ON reviews (project_id, status, number);
  CREATE INDEX reviews_of_workspace ON reviews (workspace_id) WHERE workspace_id IS NOT NULL;
  CREATE INDEX reviews_by_workspace ON reviews (project_id, workspace)
    WHERE workspace IS NOT NULL;
  CREATE INDEX reviews_of_ticket ON reviews (project_id, ticket) WHERE ticket IS NOT NULL;

  CREATE TABLE review_rounds (
    review_id TEXT NOT NULL REFERENCES reviews (id) ON DELETE CASCADE,
    round INTEGER NOT NULL,
    base TEXT NOT NULL,
    tip TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    PRIMARY KEY (review_id, round)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE review_verdicts (
    id TEXT PRIMARY KEY,
    review_id TEXT NOT NULL REFERENCES reviews (id) ON DELETE CASCADE,
    round INTEGER NOT NULL,
    reviewer_key TEXT NOT NULL,
    reviewer_name TEXT NOT NULL,
    reviewer_kind TEXT NOT NULL,
    verdict TEXT NOT NULL CHECK (verdict IN ('approved', 'changes_requested')),
    given_at INTEGER NOT NULL,
    withdrawn_at INTEGER
  ) STRICT;
  CREATE INDEX review_verdicts_of_review ON review_verdicts (review_id, id);
  CREATE UNIQUE INDEX standing_review_verdicts ON review_verdicts (review_id, reviewer_key)
    WHERE withdrawn_at IS NULL;

  CREATE TABLE review_comments (
    review_id TEXT NOT NULL REFERENCES reviews (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    round INTEGER NOT NULL,
    author_key TEXT NOT NULL,
    author_name TEXT NOT NULL,
    body TEXT NOT NULL,
    path TEXT,
    side TEXT CHECK (side IN ('old', 'new')),
    line INTEGER,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (review_id, number)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE review_requests (
    review_id TEXT NOT NULL REFERENCES reviews (id) ON DELETE CASCADE,
    account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    requested_at INTEGER NOT NULL,
    PRIMARY KEY (review_id, account_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX review_requests_of_account ON review_requests (account_id);

  CREATE TABLE checks (
    project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    checkin TEXT NOT NULL,
    context TEXT NOT NULL,
    number INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'success', 'failure', 'error')),
    description TEXT NOT NULL,
    target_url TEXT NOT NULL,
    reporter_name TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (project_id, checkin, context),
    UNIQUE (project_id, number)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE check_history (
    id TEXT PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    checkin TEXT NOT NULL,
    context TEXT NOT NULL,
    state TEXT NOT NULL,
    description TEXT NOT NULL,
    target_url TEXT NOT NULL,
    reporter_name TEXT NOT NULL,
    reported_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX check_history_of_checkin ON check_history (project_id, checkin, context, id);

  CREATE TABLE protection_rules (
    project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    pattern TEXT NOT NULL,
    contexts TEXT NOT NULL,
    approvals_any INTEGER NOT NULL,
    approvals_people INTEGER NOT NULL,
    push TEXT NOT NULL CHECK (push IN ('write', 'admin', 'nobody')),
    merge TEXT NOT NULL CHECK (merge IN ('write', 'admin')),
    landing TEXT NOT NULL CHECK (landing IN ('optional', 'required')),
    PRIMARY KEY (project_id, position)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE landings (
    id TEXT PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    review_id TEXT NOT NULL REFERENCES reviews (id) ON DELETE CASCADE,
    target_branch TEXT NOT NULL,
    tip TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('queued', 'testing', 'landed', 'returned')),
    base TEXT,
    candidate TEXT,
    reason TEXT,
    queued_by_key TEXT NOT NULL,
    queued_by_name TEXT NOT NULL,
    queued_at INTEGER NOT NULL,
    testing_since INTEGER,
    ended_at INTEGER
  ) STRICT;
  CREATE UNIQUE INDEX open_landings ON landings (review_id) WHERE ended_at IS NULL;
  CREATE INDEX queued_landings ON landings (project_id, id) WHERE ended_at IS NULL;
  CREATE INDEX landings_of_branch ON landings (project_id, target_branch, id);
  CREATE INDEX landings_of_candidate ON landings (project_id, candidate)
    WHERE candidate IS NOT NULL;

  CREATE TABLE releases (
    project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    tag_name TEXT NOT NULL,
    name TEXT NOT NULL,
    body TEXT NOT NULL,
    checkin TEXT NOT NULL,
    is_prerelease INTEGER NOT NULL,
    is_draft INTEGER NOT NULL,
    author_name TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    published_at INTEGER,
    PRIMARY KEY (project_id, tag_name)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE release_assets (
    project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    tag_name TEXT NOT NULL,
    name TEXT NOT NULL,
    content_type TEXT NOT NULL,
    download_count INTEGER NOT NULL,
    PRIMARY KEY (project_id, tag_name, name)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE uploads (
    id TEXT PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    uploader_key TEXT NOT NULL,
    target TEXT NOT NULL,
    content_type TEXT NOT NULL,
    total_bytes INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    finished_at INTEGER
  ) STRICT;
  CREATE INDEX uploads_of_project ON uploads (project_id);
`;

/** What runs checks: runners, runs, jobs, leases, and what jobs keep. */
export const CHECK_RUN_TABLES = `
  CREATE TABLE runners (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    name_folded TEXT NOT NULL UNIQUE,
    token_hash TEXT NOT NULL UNIQUE,
    labels TEXT NOT NULL,
    declared TEXT NOT NULL,
    projects TEXT,
    paused_at INTEGER,
    version TEXT NOT NULL,
    isolation TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    last_seen INTEGER
  ) STRICT;

  CREATE TABLE check_runs (
    id TEXT PRIMARY KEY,
    project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    cause TEXT NOT NULL CHECK (cause IN ('review', 'landing', 'push', 'cron', 'manual')),
    cause_key TEXT NOT NULL,
    subject TEXT,
    review INTEGER,
    checkin TEXT NOT NULL,
    branch TEXT NOT NULL,
    defined_by TEXT NOT NULL,
    is_trusted INTEGER NOT NULL,
    asked_by_key TEXT,
    asked_by_name TEXT NOT NULL,
    fault TEXT,
    notices TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    ended_at INTEGER,
    UNIQUE (project_id, number),
    UNIQUE (project_id, cause_key)
  ) STRICT;
  CREATE INDEX open_check_runs ON check_runs (project_id, id) WHERE ended_at IS NULL;
  CREATE INDEX check_runs_of_checkin ON check_runs (project_id, checkin);
  CREATE INDEX ended_check_runs ON check_runs (ended_at) WHERE ended_at IS NOT NULL;

  CREATE TABLE check_jobs (
    id TEXT PRIMARY KEY,
    run_id TEXT NOT NULL REFERENCES check_runs (id) ON DELETE CASCADE,
    project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    kind TEXT NOT NULL CHECK (kind IN ('commands', 'workflow')),
    name TEXT NOT NULL,
    context TEXT NOT NULL,
    counts INTEGER NOT NULL,
    checkin TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (
      state IN (
        'waiting', 'queued', 'running', 'success', 'failure', 'error', 'cancelled', 'skipped'
      )
    ),
    needs TEXT NOT NULL,
    labels TEXT NOT NULL,
    spec TEXT NOT NULL,
    group_name TEXT,
    generation INTEGER NOT NULL,
    runner_id TEXT,
    runner_name TEXT,
    cancel_reason TEXT,
    cancelled_at INTEGER,
    summary TEXT NOT NULL,
    exit_code INTEGER,
    outputs TEXT,
    steps TEXT,
    queued_at INTEGER,
    started_at INTEGER,
    ended_at INTEGER,
    UNIQUE (run_id, context, attempt)
  ) STRICT;
  CREATE INDEX queued_check_jobs ON check_jobs (queued_at, id) WHERE state = 'queued';
  CREATE INDEX running_check_jobs ON check_jobs (project_id, group_name) WHERE state = 'running';
  CREATE INDEX check_jobs_of_context ON check_jobs (project_id, context, ended_at);
  CREATE INDEX check_jobs_of_checkin ON check_jobs (project_id, checkin, context);
  CREATE INDEX repeated_check_jobs ON check_jobs (ended_at) WHERE attempt > 1;

  CREATE TABLE check_leases (
    job_id TEXT PRIMARY KEY REFERENCES check_jobs (id) ON DELETE CASCADE,
    project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    runner_id TEXT NOT NULL,
    generation INTEGER NOT NULL,
    number INTEGER NOT NULL UNIQUE,
    token_hash TEXT NOT NULL UNIQUE,
    expires_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX check_leases_of_project ON check_leases (project_id);

  CREATE TABLE check_artifacts (
    job_id TEXT NOT NULL REFERENCES check_jobs (id) ON DELETE CASCADE,
    project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    path TEXT NOT NULL,
    generation INTEGER NOT NULL,
    file TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (job_id, path)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX check_artifacts_of_project ON check_artifacts (project_id);

  CREATE TABLE check_caches (
    project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    scope TEXT NOT NULL,
    key TEXT NOT NULL,
    file TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    used_at INTEGER NOT NULL,
    PRIMARY KEY (project_id, scope, key)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE check_secrets (
    project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    check_name TEXT NOT NULL,
    name TEXT NOT NULL,
    sealed TEXT NOT NULL,
    set_by TEXT NOT NULL,
    set_at INTEGER NOT NULL,
    PRIMARY KEY (project_id, check_name, name)
  ) STRICT, WITHOUT ROWID;
`;
