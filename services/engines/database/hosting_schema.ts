import type { Fixed } from "./columns.ts";

/** The tables of repository hosting; `hosting_migrations.ts` explains keys and names of actors. */
export interface HostingTables {
  projects: ProjectsTable;
  project_members: ProjectMembersTable;
  project_stars: ProjectStarsTable;
  repository_cursors: RepositoryCursorsTable;
  intentions: IntentionsTable;
  webhooks: WebhooksTable;
  webhook_deliveries: WebhookDeliveriesTable;
  project_mirrors: ProjectMirrorsTable;
  project_mirror_refs: ProjectMirrorRefsTable;
  ticket_leases: TicketLeasesTable;
  ticket_numbers: TicketNumbersTable;
  claims: ClaimsTable;
  workspaces: WorkspacesTable;
  workspace_overlaps: WorkspaceOverlapsTable;
  reviews: ReviewsTable;
  review_rounds: ReviewRoundsTable;
  review_verdicts: ReviewVerdictsTable;
  review_comments: ReviewCommentsTable;
  review_requests: ReviewRequestsTable;
  checks: ChecksTable;
  check_history: CheckHistoryTable;
  newest_reports: NewestReportsTable;
  runners: RunnersTable;
  check_runs: CheckRunsTable;
  check_jobs: CheckJobsTable;
  check_leases: CheckLeasesTable;
  check_artifacts: CheckArtifactsTable;
  check_caches: CheckCachesTable;
  check_secrets: CheckSecretsTable;
  protection_rules: ProtectionRulesTable;
  landings: LandingsTable;
  releases: ReleasesTable;
  release_assets: ReleaseAssetsTable;
  uploads: UploadsTable;
  stored_bytes: StoredBytesTable;
}

/** A hosted project. `slug` is free again once it is removed. */
export interface ProjectsTable {
  id: Fixed<string>;
  slug: string;
  name: string;
  description: string;
  visibility: "public" | "internal" | "private";
  channel: string | null;
  settings: string;
  created_at: Fixed<number>;
  archived_at: number | null;
  removed_at: number | null;
  /** The node that has its repository; null without nodes. */
  home: string | null;
}

/** Who may do what in a project. */
export interface ProjectMembersTable {
  project_id: Fixed<string>;
  account_id: Fixed<string>;
  role: "read" | "write" | "admin";
  added_at: Fixed<number>;
}

/** Accounts that like a project. */
export interface ProjectStarsTable {
  project_id: Fixed<string>;
  account_id: Fixed<string>;
  starred_at: Fixed<number>;
}

/** Up to which `rcvid` of its repository the event log tells of a project. */
export interface RepositoryCursorsTable {
  project_id: Fixed<string>;
  last_rcvid: number;
  last_rid: number;
  phantoms: number;
  /** The project code of the repository; null until the server has looked at it. */
  project_code: string | null;
}

/** Writes to a repository that are under way; see `services/work/projects/README.md`. */
export interface IntentionsTable {
  id: Fixed<string>;
  project_id: Fixed<string>;
  kind: Fixed<string>;
  /** User and date (Unix milliseconds) of what is written, by which it is found again. */
  author: Fixed<string>;
  date: Fixed<number>;
  origin: Fixed<string>;
  body: Fixed<string>;
  created_at: Fixed<number>;
}

/** Where a project is mirrored, and how its last run ended. */
export interface ProjectMirrorsTable {
  project_id: Fixed<string>;
  /** The remote that is pushed to; null for none. */
  git_url: string | null;
  git_username: string | null;
  /** The password, sealed with a key that is not in the database; null for none. */
  git_secret: string | null;
  /** The upstream that is pulled from; null for none. */
  fossil_url: string | null;
  fossil_username: string | null;
  /** Sealed like `git_secret`. */
  fossil_secret: string | null;
  /** The Git repository that is pulled from; null for none. */
  pull_git_url: string | null;
  pull_git_username: string | null;
  /** Sealed like `git_secret`. */
  pull_git_secret: string | null;
  every_minutes: number;
  next_run_at: number;
  last_run_at: number | null;
  last_success_at: number | null;
  last_error: string | null;
  /** Failed runs since the last success. */
  failures: number;
}

/** A branch or tag that a project pulls from Git, as the last pull left it. */
export interface ProjectMirrorRefsTable {
  project_id: Fixed<string>;
  /** Below `refs/heads` or `refs/tags`. */
  ref: Fixed<string>;
  /** The name of its object. */
  object: string;
}

/** Where events are sent to; of all projects if `project_id` is null. */
export interface WebhooksTable {
  id: Fixed<string>;
  project_id: Fixed<string | null>;
  url: string;
  /**
   * Which secret is derived for it, counted from 1, and when it took the place of the one before.
   */
  secret_version: number;
  secret_since: number;
  /** Names of events, separated by commas; empty for all. */
  types: string;
  is_active: number;
  /** The number of the last event that has its delivery. */
  cursor: number;
  /** Since when no delivery has succeeded; null after one that did. */
  failing_since: number | null;
  created_at: Fixed<number>;
}

/** What a webhook sent or is to send. */
export interface WebhookDeliveriesTable {
  id: Fixed<string>;
  webhook_id: string;
  event_seq: number | null;
  type: string;
  body: string;
  status: "pending" | "delivered" | "failed";
  attempts: number;
  next_attempt_at: number | null;
  response_status: number | null;
  error: string | null;
  milliseconds: number | null;
  created_at: Fixed<number>;
  finished_at: number | null;
}

/** The newest generation of a ticket's claims, and how many ended without a result. */
export interface TicketLeasesTable {
  project_id: Fixed<string>;
  ticket: Fixed<string>;
  generation: number;
  strikes: number;
}

/** The numbers of a project's tickets, from 1. */
export interface TicketNumbersTable {
  project_id: Fixed<string>;
  number: Fixed<number>;
  /** Its whole id. */
  ticket: Fixed<string>;
}

/** Leases on tickets. */
export interface ClaimsTable {
  id: Fixed<string>;
  project_id: Fixed<string>;
  ticket: string;
  generation: number;
  holder_key: string;
  holder_name: string;
  workspace: string | null;
  summary: string | null;
  files_changed: string | null;
  claimed_at: Fixed<number>;
  expires_at: number;
  /** Since when its holder is halted, so that the lease stands still; or null. */
  frozen_at: number | null;
  ended_at: number | null;
  outcome:
    | "released"
    | "submitted"
    | "merged"
    | "closed"
    | "lapsed"
    | "broken"
    | "revoked"
    | null;
}

/** Branches on which an agent works. */
export interface WorkspacesTable {
  id: Fixed<string>;
  project_id: Fixed<string>;
  name: string;
  description: string;
  status: "active" | "merged" | "abandoned";
  owner_key: string;
  owner_name: string;
  ticket: string | null;
  generation: number | null;
  /** The check-in that starts its branch. */
  started_as: Fixed<string>;
  /** The check-in where it branched off; after a merge, the one to which its changes applied. */
  base: string;
  /** The check-in that was merged; null before. */
  tip: string | null;
  merged_as: string | null;
  target_branch: string | null;
  created_at: Fixed<number>;
  updated_at: number;
}

/** What two active workspaces have in common at their tips; `one_id` is the lower id. */
export interface WorkspaceOverlapsTable {
  project_id: Fixed<string>;
  one_id: Fixed<string>;
  other_id: Fixed<string>;
  one_tip: string;
  other_tip: string;
  paths: string;
  conflicts: string;
  notified_at: number | null;
}

/**
 * Reviews; `number` is the id in the API. `diff` is set only without a workspace; `workspace` is
 * its name.
 */
export interface ReviewsTable {
  id: Fixed<string>;
  project_id: Fixed<string>;
  number: Fixed<number>;
  title: string;
  description: string;
  status: "pending" | "approved" | "changes_requested" | "merged" | "closed";
  author_key: string;
  author_name: string;
  author_kind: string;
  workspace_id: string | null;
  workspace: string | null;
  ticket: string | null;
  target_branch: string;
  round: number;
  diff: string | null;
  files_changed: string;
  comment_count: number;
  merged_as: string | null;
  created_at: Fixed<number>;
  updated_at: number;
}

/** The check-ins that each round of a review shows. */
export interface ReviewRoundsTable {
  review_id: Fixed<string>;
  round: Fixed<number>;
  base: Fixed<string>;
  tip: Fixed<string>;
  started_at: Fixed<number>;
}

/** What reviewers decided. */
export interface ReviewVerdictsTable {
  id: Fixed<string>;
  review_id: string;
  round: number;
  reviewer_key: string;
  reviewer_name: string;
  reviewer_kind: string;
  verdict: "approved" | "changes_requested";
  given_at: Fixed<number>;
  withdrawn_at: number | null;
}

/** Comments of a review; `number` counts from 1. */
export interface ReviewCommentsTable {
  review_id: Fixed<string>;
  number: Fixed<number>;
  round: number;
  author_key: string;
  author_name: string;
  body: string;
  path: string | null;
  side: "old" | "new" | null;
  line: number | null;
  created_at: Fixed<number>;
}

/** Who was asked to review. */
export interface ReviewRequestsTable {
  review_id: Fixed<string>;
  account_id: Fixed<string>;
  requested_at: Fixed<number>;
}

/** The newest report of each check (CI) of a check-in; `number` is the id that the API shows. */
export interface ChecksTable {
  project_id: Fixed<string>;
  checkin: Fixed<string>;
  context: Fixed<string>;
  number: Fixed<number>;
  state: "pending" | "success" | "failure" | "error";
  description: string;
  target_url: string;
  reporter_name: string;
  created_at: Fixed<number>;
  updated_at: number;
}

/** Every report of a check. */
export interface CheckHistoryTable {
  id: Fixed<string>;
  project_id: Fixed<string>;
  checkin: Fixed<string>;
  context: Fixed<string>;
  state: Fixed<string>;
  description: Fixed<string>;
  target_url: Fixed<string>;
  reporter_name: Fixed<string>;
  reported_at: Fixed<number>;
}

/** The newest report of each reporter on a check. The latest one has the greatest `report_id`. */
export interface NewestReportsTable {
  project_id: Fixed<string>;
  checkin: Fixed<string>;
  context: Fixed<string>;
  reporter_key: Fixed<string>;
  reporter_name: string;
  reporter_kind: string;
  state: "pending" | "success" | "failure" | "error";
  report_id: string;
}

/** Rules for branches, in the project's order; `contexts` is JSON. */
export interface ProtectionRulesTable {
  project_id: Fixed<string>;
  position: Fixed<number>;
  pattern: string;
  contexts: string;
  approvals_any: number;
  approvals_people: number;
  push: "write" | "admin" | "nobody";
  merge: "write" | "admin";
  landing: "optional" | "required";
}

/** The landing queue. `tip` is what is merged; `reason` is JSON. */
export interface LandingsTable {
  id: Fixed<string>;
  project_id: Fixed<string>;
  review_id: string;
  target_branch: string;
  tip: Fixed<string>;
  status: "queued" | "testing" | "landed" | "returned";
  base: string | null;
  candidate: string | null;
  reason: string | null;
  queued_by_key: string;
  queued_by_name: string;
  /** JSON: the principal of the request; null in a row from before this column. */
  asked_by: Fixed<string | null>;
  queued_at: Fixed<number>;
  testing_since: number | null;
  ended_at: number | null;
}

/** What a release has beyond its tag. */
export interface ReleasesTable {
  project_id: Fixed<string>;
  tag_name: Fixed<string>;
  name: string;
  body: string;
  checkin: string;
  is_prerelease: number;
  is_draft: number;
  author_name: string;
  created_at: Fixed<number>;
  published_at: number | null;
}

/** What an asset has beyond its file, which is the repository's `releases/<tag>/<file>`. */
export interface ReleaseAssetsTable {
  project_id: Fixed<string>;
  tag_name: Fixed<string>;
  name: Fixed<string>;
  content_type: string;
  download_count: number;
}

/** Uploads that can be resumed; `target` is a JSON object that says what they are for. */
export interface UploadsTable {
  id: Fixed<string>;
  project_id: Fixed<string>;
  uploader_key: Fixed<string>;
  target: Fixed<string>;
  content_type: Fixed<string>;
  total_bytes: Fixed<number>;
  created_at: Fixed<number>;
  expires_at: number;
  /** When its file was stored in the repository; null before. */
  finished_at: number | null;
}

/** By how many bytes a caller made the repository of a project grow. */
export interface StoredBytesTable {
  project_id: Fixed<string>;
  actor_key: Fixed<string>;
  bytes: number;
}

/** Programs that run checks. */
export interface RunnersTable {
  id: Fixed<string>;
  name: string;
  name_folded: string;
  token_hash: string;
  /** JSON: labels. */
  labels: string;
  /** JSON: the labels that it says to have, which count if it was given none. */
  declared: string;
  /** JSON: ids of the projects whose jobs it takes; null for all. */
  projects: string | null;
  paused_at: number | null;
  version: string;
  /** JSON: how it keeps jobs apart. */
  isolation: string;
  created_by: Fixed<string>;
  created_at: Fixed<number>;
  last_seen: number | null;
}

/** All jobs that one cause began on one check-in; `number` is the id that the API shows. */
export interface CheckRunsTable {
  id: Fixed<string>;
  project_id: Fixed<string>;
  number: Fixed<number>;
  cause: Fixed<"review" | "landing" | "push" | "cron" | "manual">;
  /** What makes the cause one of its kind: a second run of the same cause is a duplicate. */
  cause_key: Fixed<string>;
  /** What is tested, such as a review: a newer run of it supersedes the older one; or null. */
  subject: Fixed<string | null>;
  review: Fixed<number | null>;
  checkin: Fixed<string>;
  branch: Fixed<string>;
  /** The check-in whose definition decides. */
  defined_by: Fixed<string>;
  /** Whether its check-in is on a protected branch, so that its jobs get secrets. */
  is_trusted: Fixed<number>;
  asked_by_key: Fixed<string | null>;
  asked_by_name: Fixed<string>;
  /** Why it has no jobs, if the definition has a fault; or null. */
  fault: Fixed<string | null>;
  /** JSON: what its definition has that muster does not do. */
  notices: Fixed<string>;
  created_at: Fixed<number>;
  ended_at: number | null;
}

/** Checks of runs, on runners. */
export interface CheckJobsTable {
  id: Fixed<string>;
  run_id: Fixed<string>;
  project_id: Fixed<string>;
  /** What runs it: commands, or a workflow of Forgejo. */
  kind: Fixed<"commands" | "workflow">;
  name: Fixed<string>;
  /** The context under which it reports. */
  context: Fixed<string>;
  /** Whether its report can count. */
  counts: Fixed<number>;
  checkin: Fixed<string>;
  attempt: Fixed<number>;
  state:
    | "waiting"
    | "queued"
    | "running"
    | "success"
    | "failure"
    | "error"
    | "cancelled"
    | "skipped";
  /** JSON: names of checks of the run. */
  needs: Fixed<string>;
  /** JSON: labels of a runner. */
  labels: Fixed<string>;
  /** JSON: commands, environment and limits. */
  spec: Fixed<string>;
  group_name: Fixed<string | null>;
  /** Which lease is the newest; 0 before the first one. */
  generation: number;
  runner_id: string | null;
  runner_name: string | null;
  cancel_reason: string | null;
  cancelled_at: number | null;
  summary: string;
  exit_code: number | null;
  /** JSON: what it passes on to jobs that need it, and its steps; null for none. */
  outputs: string | null;
  steps: string | null;
  queued_at: number | null;
  started_at: number | null;
  ended_at: number | null;
}

/** Which runner has a job; a row for each job that runs. */
export interface CheckLeasesTable {
  job_id: Fixed<string>;
  project_id: Fixed<string>;
  runner_id: Fixed<string>;
  generation: Fixed<number>;
  /** Names the job and the generation for runners that know numbers only. */
  number: Fixed<number>;
  token_hash: Fixed<string>;
  expires_at: number;
}

/** Files that jobs have kept. */
export interface CheckArtifactsTable {
  job_id: Fixed<string>;
  project_id: Fixed<string>;
  path: Fixed<string>;
  generation: number;
  /** The name of its file in the folder of the job. */
  file: string;
  bytes: number;
  created_at: number;
}

/** Folders that jobs left for later ones. */
export interface CheckCachesTable {
  project_id: Fixed<string>;
  /** Whose jobs read it: `protected`, which all do, or one review. */
  scope: Fixed<string>;
  key: Fixed<string>;
  file: string;
  bytes: number;
  created_at: number;
  used_at: number;
}

/** Secrets of checks, sealed. */
export interface CheckSecretsTable {
  project_id: Fixed<string>;
  /** The check that gets it; empty for all. */
  check_name: Fixed<string>;
  name: Fixed<string>;
  sealed: string;
  set_by: string;
  set_at: number;
}
