/**
 * What every event of a project tells: `project` is its slug then, which may have another owner
 * now.
 */
type InProject = {
  readonly project: string;
  readonly project_id: string;
};

/**
 * The events of projects. What follows `project.` is the event's name in the repository API, and
 * the fields are those that its streams show. Events that come from an artifact are written by the
 * repository's feed, whichever program wrote the artifact; the others by the service that causes
 * them.
 */
export interface ProjectEventTypes {
  "project.created": InProject & { visibility: string };
  "project.changed": InProject & { fields: readonly string[] };
  "project.archived": InProject;
  "project.unarchived": InProject;
  "project.removed": InProject;
  /** `role`: null if the account is no longer a member. */
  "project.member_changed": InProject & { account: string; role: string | null };
  /** Its repository is on another node now. `restored`: it comes from a backup. */
  "project.moved": InProject & { from: string; to: string; restored: boolean };
  /** An operator accepted a repository file that lacks what the server had received. */
  "project.accepted": InProject;
  "project.imported": InProject & { format: string; checkins: number };

  /** `timestamp`: the check-in's own date. */
  "project.checkin": InProject & {
    uuid: string;
    user: string;
    comment: string;
    branch: string;
    timestamp: string;
  };
  "project.ticket": InProject & {
    ticket: string;
    title: string;
    status: string;
    user: string;
    uuid: string;
    /** Whether it is the ticket's first change. */
    is_new: boolean;
    /** Names of the fields that the change sets. */
    fields: readonly string[];
  };
  /** A custom field of tickets. `action`: defined or removed. `type`: null if it is removed. */
  "project.ticket_field": InProject & { name: string; type: string | null; action: string };
  "project.wiki": InProject & { name: string; user: string; uuid: string; is_deleted: boolean };
  "project.technote": InProject & { name: string; user: string; uuid: string };
  "project.forum": InProject & { thread: string; user: string; uuid: string };
  "project.attachment": InProject & { name: string; target: string; user: string; uuid: string };
  "project.tag": InProject & {
    tags: readonly { name: string; sign: string; target: string | null }[];
    user: string;
    uuid: string;
  };

  /** `status`: claimed, released, submitted, merged, closed, lapsed, broken or revoked. */
  "project.claim": InProject & {
    /** The ticket's id, under both names that readers know. */
    ticket: string;
    ticket_uuid: string;
    /** The holder, under both names. */
    agent: string;
    agent_id: string;
    status: string;
    generation: number;
    claimed_at: string;
    expires_at: string;
    workspace: string | null;
    /** Who ended the claim, if that was not its holder. */
    by: string | null;
    /** Who held the ticket before, and how that claim ended; null if it was nobody else. */
    previous_agent: string | null;
    previous_outcome: string | null;
    /** Claims of the ticket that ended without a result. */
    strikes: number;
  };
  /** Somebody offers a ticket to agents again, although so many claims ended without a result. */
  "project.strikes_forgotten": InProject & { ticket: string; strikes: number };
  /** `status`: active, merged or abandoned. */
  "project.workspace": InProject & {
    name: string;
    branch: string;
    status: string;
    /** The owner. */
    agent_id: string;
    /** What happened: created, merged, abandoned, restored or taken_over. */
    action: string;
    /** The owner from whom it was taken over, else null. */
    previous_agent_id: string | null;
    /** The whole id of its ticket. */
    ticket: string | null;
    /** The branch into which it was merged, and the merge; null before. */
    target_branch: string | null;
    checkin: string | null;
  };
  /** Two workspaces begin to conflict. */
  "project.overlap": InProject & {
    workspaces: readonly { name: string; agent_id: string }[];
    paths: readonly string[];
    conflicts: readonly { path: string; kind: string }[];
  };
  "project.review": InProject & {
    id: number;
    title: string;
    status: string;
    workspace: string | null;
    /** The whole id of the ticket that it resolves, under both names. */
    ticket: string | null;
    ticket_uuid: string | null;
    /** The author, under both names. */
    agent: string;
    agent_id: string;
    round: number;
    /**
     * What happened: created, requested, request_withdrawn, commented, approved, changes_requested,
     * round, merged or closed.
     */
    action: string;
    /**
     * Names of the reviewers for whom it waits because of this: those whom `created` and
     * `requested` ask, and all of them at the start of a round. With `request_withdrawn`, who is
     * asked no longer.
     */
    reviewers: readonly string[];
    /** The number of the comment that came with it, or null. */
    comment: number | null;
    /** Who did it. */
    by: string;
  };
  /** A report of CI. */
  "project.status": InProject & {
    checkin: string;
    context: string;
    state: string;
    /** What the context said of the check-in before; null if nothing. */
    previous_state: string | null;
    description: string;
    target_url: string;
    reporter: string;
  };
  "project.release": InProject & { tag_name: string; name: string; status: string };
  "project.landing": InProject & {
    /** The review, under both names. */
    review: number;
    id: number;
    title: string;
    /** The review's author, under both names. */
    agent: string;
    agent_id: string;
    target_branch: string;
    /** queued, testing, landed or returned. */
    status: string;
    /** The check-in that is tested. */
    candidate: string | null;
    /** Why it came back. */
    reason: string | null;
    conflicts: readonly { path: string; kind: string }[];
    /** Contexts that failed. */
    contexts: readonly string[];
  };
  "project.protection_changed": InProject & { patterns: readonly string[] };
  "project.webhook_changed": InProject & { id: string; action: string };
  /** `action`: set or removed; `host`: of the remote. */
  "project.mirror_changed": InProject & { action: string; host: string };
}
