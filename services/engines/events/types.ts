/** The types of events. A service that logs something new adds its type here. */
import type { DAMAGED, NewEvent } from "../database/mod.ts";

/** Every type of event and the data of its row. */
export interface EventTypes extends ProjectEventTypes {
  /** Credentials refused at one address for one reason since the given time. */
  "access.refused": { door: string; reason: string; count: number; since: string };
  "account.created": { account: string };
  "account.deleted": { account: string };
  "account.password_changed": { account: string };
  "admin.created": { username: string };
  "admin.deleted": { username: string };
  "admin.logged_in": { username: string };
  "admin.logged_out": { username: string };
  /** A person, with the password of an IRC account. */
  "account.logged_in": { username: string };
  "account.logged_out": { username: string };
  "admin.password_changed": { username: string };
  "agent.registered": { nick: string; type: string; channels: readonly string[] };
  "agent.adopted": { nick: string; type: string; channels: readonly string[] };
  "agent.session_began": { nick: string; session: string };
  "agent.session_ended": { nick: string; session: string };
  "agent.rotated": { nick: string; tokens_kept: boolean };
  "agent.paused": { nick: string; reason: string | null };
  "agent.resumed": { nick: string };
  /** With neither agents nor types, it is about all agents. */
  "agents.halted": {
    reason: string | null;
    agents: readonly string[];
    types: readonly string[];
  };
  "agents.resumed": { agents: readonly string[]; types: readonly string[] };
  /** Both null: the agent's own rate was removed. */
  "agent.rate_changed": { nick: string; messages_per_second: number | null; burst: number | null };
  /** Its own limits; null for the limit of its type. */
  "agent.slots_changed": {
    nick: string;
    claims: number | null;
    workspaces: number | null;
    reviews: number | null;
    calls: number | null;
  };
  "agent.revoked": { nick: string };
  "agent.deleted": { nick: string };
  "api_token.rotated": Record<string, never>;
  "token.created": { id: string; name: string; owner: string | null; scopes: readonly string[] };
  "token.revoked": { id: string; name: string };
  /** A program that runs checks was made, takes no more jobs, takes them again, or is gone. */
  "runner.created": { name: string; labels: readonly string[] };
  "runner.paused": { name: string };
  "runner.resumed": { name: string };
  "runner.removed": { name: string };
  "signing_key.added": { id: string; name: string; owner: string; fingerprint: string };
  "signing_key.removed": { id: string; name: string; fingerprint: string };
  "llm_backend.created": { name: string; provider: string; base_url: string };
  "llm_backend.changed": { name: string; fields: readonly string[] };
  "llm_backend.deleted": { name: string };
  /** A model was called; tokens are null if the provider did not report them. */
  "llm.called": {
    backend: string;
    model: string;
    streamed: boolean;
    outcome: "completed" | "failed" | "cancelled";
    prompt_tokens: number | null;
    completion_tokens: number | null;
    milliseconds: number;
  };
  /** A budget of calls of models; null for no limit. Costs are in millionths of a US dollar. */
  "llm_budget.set": {
    budget: string;
    max_cost_micro_usd: number | null;
    max_tokens: number | null;
    warn_percent: number;
  };
  "llm_budget.deleted": { budget: string };
  "llm_budget.warned": BudgetSpent;
  "llm_budget.exceeded": BudgetSpent;
  /** An account on the IRC network was repaired. */
  "network.account_repaired": { account: string; repair: string };
  "bot.started": { bot: string };
  "bot.stopped": { bot: string };
  /** A bot threw an error of this class, and is started again after a pause. */
  "bot.failed": { bot: string; error: string; restart_seconds: number };
  /** A bot said less than it wanted: its queue was full, or IRC refused the lines. */
  "bot.lines_dropped": { bot: string; count: number };
  /** A bot missed some of what happened, because its queue was full. */
  "bot.input_dropped": { bot: string; count: number };
  /** Activities in channels that auditbot did not record, because there were too many. */
  "audit.throttled": { activity: string; count: number; seconds: number };
  /** Scribe removed what was said before a time: files, and the beginnings of others. */
  "scribe.pruned": { before: string; removed: number; shortened: number };
  /** `to`: the account that was asked, or null; `project`: the slug of its ticket's project, or null. */
  "question.asked": QuestionEvent;
  "question.answered": QuestionEvent & { by: string; via: string };
  /** Its deadline came; `has_default`: its default became the answer. */
  "question.expired": QuestionEvent & { has_default: boolean };
  "question.withdrawn": QuestionEvent;
  /** A bot raised an alarm; `channel` is null if it is about no channel. */
  "bot.alarm": { bot: string; kind: string; nick: string; channel: string | null };
  /** A bot reported what somebody said; `source` is what judged it, a rule or a model. */
  "bot.incident": {
    bot: string;
    number: number;
    channel: string;
    nick: string;
    account: string | null;
    severity: string;
    reason: string;
    source: string;
  };
  /** Incidents were closed: one by its number, or those of a nick. */
  "bot.incidents_dismissed": { bot: string; what: string; count: number };
  "bot.goal_set": { bot: string; number: number; channel: string };
  "bot.task_assigned": { bot: string; number: number; account: string; channel: string };
  /** A goal or a task (`kind`) was ended. */
  "bot.goal_done": { bot: string; kind: string; number: number; channel: string };
  /** Notices for herald that found its queue full, since the last such event. */
  "herald.dropped": { count: number };
  "herald.source_added": { name: string };
  "herald.source_removed": { name: string };
  /** Somebody let an OAuth client (`client`, a URL) act for an account. */
  "grant.allowed": { id: string; client: string; scopes: readonly string[] };
  "grant.ended": { id: string; client: string };
  "policy.changed": { keys: readonly string[] };
  /** A webhook of all projects; `action` as for those of a project. */
  "webhook.changed": { id: string; host: string; action: string };
  /** A node started, or took part for the first time. */
  "node.joined": { node: string; url: string; version: string };
  "node.drained": { node: string };
  /** A drained node takes new work again. */
  "node.resumed": { node: string };
  "node.removed": { node: string };
  "program.started": { version: string };
  /** The configuration was reloaded; `keys` are those that differ from the start. */
  "program.reloaded": { keys: readonly string[] };
  /** Until the next reload or restart. */
  "program.log_level_changed": { level: string; previous: string };
  "program.stopped": Record<string, never>;
  /** The database found rows of this log that another program changed. */
  [DAMAGED]: { problem: string };
  "irc.operator_granted": { nick: string; operator: string };
  "irc.channel_registered": { channel: string };
  "irc.channel_dropped": { channel: string };
  "irc.channel_transferred": { channel: string; founder: string };
  /** `status`: the account's status on every join; null if it was removed. */
  "irc.channel_access_changed": {
    channel: string;
    account: string;
    status: "operator" | "voice" | null;
  };
  "irc.topic_changed": { channel: string };
  /** `expires_at`: null for a ban without an end. */
  "irc.banned": { mask: string; reason: string; expires_at: string | null };
  "irc.unbanned": { mask: string };
  /** An IRC operator ended a user's connection. */
  "irc.killed": { nick: string; account: string | null; reason: string };
  /** A bot warned somebody, muted somebody in one channel or in all (null), or lifted that. */
  "irc.warned": BotAct;
  "irc.muted": BotAct & { expires_at: string };
  "irc.unmuted": BotAct;
  /** A bot removed somebody from a channel; `irc.kicked` follows. */
  "irc.removed": BotAct;
  "irc.kicked": { channel: string; nick: string };
  /** `changes` as in the MODE message; a key is `*`. */
  "irc.modes_changed": { channel: string; changes: string };
  "irc.host_changed": { nick: string; host: string };
  "irc.channel_renamed": { channel: string; to: string };
  /** A user redacted a message of another, `nick`. */
  "irc.message_redacted": { channel: string; nick: string };
  /** Actions of one actor on IRC beyond the number logged per minute. */
  "irc.moderation_omitted": { count: number };
}

/** Which question an event is about. */
export type QuestionEvent = {
  question: number;
  asker: string;
  to: string | null;
  project: string | null;
};

/** What is spent of a budget. */
export type BudgetSpent = {
  budget: string;
  spent_micro_usd: number;
  spent_tokens: number;
  max_cost_micro_usd: number | null;
  max_tokens: number | null;
};

/** What a bot did to a user of the IRC server, and why. The origin says who caused it. */
export type BotAct = {
  /** The nick of the bot. */
  bot: string;
  nick: string;
  /** Null for a guest. */
  account: string | null;
  /** Null: in all channels. */
  channel: string | null;
  reason: string;
};

/** The origin of a change: actor, address and request. */
export interface Origin {
  /** Kind and name of the principal, such as `operator` or `agent:coder-1`. */
  readonly actor: string;
  /** The principal's internal id, or null for the operator and the program itself. */
  readonly actorId: string | null;
  /** The client's IP address, or null if there is none. */
  readonly address: string | null;
  /** The id of the request, or null if there is none. */
  readonly cause: string | null;
}

/** The origin of the program's own actions. */
export const SYSTEM: Origin = Object.freeze({
  actor: "system",
  actorId: null,
  address: null,
  cause: null,
});

/**
 * Creates the row of an event, to be committed together with the change that it records.
 *
 * @param time Unix milliseconds
 */
export function newEvent<Type extends keyof EventTypes>(
  type: Type,
  data: EventTypes[Type],
  origin: Origin,
  time: number,
): NewEvent {
  const { actor, actorId, address, cause } = origin;
  return { time, type, actor, actorId, address, cause, data };
}

/**
 * What every event of a project tells: `project` is its slug then, which may have another owner
 * now.
 */
type InProject = {
  readonly project: string;
  readonly project_id: string;
};

type CheckinFields = {
  readonly uuid: string;
  readonly user: string;
  readonly comment: string;
  readonly branch: string;
  readonly timestamp: string;
};

type TagFields = {
  readonly name: string;
  readonly sign: string;
  readonly target: string | null;
};

/** What a push of Git brings, all of which is one event. Each list has at most 100 entries. */
type GitPushFields = {
  /** How many check-ins there are. */
  readonly checkins: number;
  /** The newest ones, the oldest of these first; of each comment, the first line. */
  readonly commits: readonly CheckinFields[];
  /** The branches of all. */
  readonly branches: readonly string[];
  /** Where branches are now; null for one that is deleted. */
  readonly refs: readonly { readonly ref: string; readonly checkin: string | null }[];
  readonly tags: readonly TagFields[];
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

  /** `timestamp`: the check-in's own date. Of a push of Git, the fields are those of its tip. */
  "project.checkin": InProject & CheckinFields & { push?: GitPushFields };
  "project.ticket": InProject & {
    ticket: string;
    /** Its number in the project; absent from events of older servers. */
    ticket_number?: number | null;
    title: string;
    status: string;
    /** Whether the change closes the ticket; absent from events of older servers. */
    closes?: boolean;
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
    tags: readonly TagFields[];
    user: string;
    uuid: string;
    push?: GitPushFields;
  };

  /** `status`: claimed, released, submitted, merged, closed, lapsed, broken or revoked. */
  "project.claim": InProject & {
    /** The ticket's id, under both names that readers know. */
    ticket: string;
    ticket_uuid: string;
    /** Its number in the project; absent from events of older servers. */
    ticket_number?: number | null;
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
    /** The review whose round was tested, or null; absent if no runner of muster did it. */
    review?: number | null;
    /** The job that ended so. */
    job?: string;
    /** Why nobody need read it: its job was cancelled or skipped; absent otherwise. */
    unread?: "cancelled" | "skipped";
  };
  /** A check on a runner: its job waits, runs or has ended. */
  "project.job": InProject & {
    /** The id of the job. */
    job: string;
    /** The number of its run. */
    run: number;
    name: string;
    checkin: string;
    /** The review whose round it tests, or null. */
    review: number | null;
    attempt: number;
    /** waiting, queued, running, success, failure, error, cancelled or skipped. */
    state: string;
    runner: string | null;
    /** Why its end is asked for while it runs, else null. */
    cancelled: string | null;
  };
  /** A secret of checks; `check`: the one that gets it, or null for all. `action`: set or removed. */
  "project.secret_changed": InProject & { name: string; check: string | null; action: string };
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
  /**
   * A mirror followed upstream, where a branch lost commits, or a tag was moved, or one of them is gone.
   * `from` and `to` name objects of Git; `from` can still be fetched by its name.
   */
  "project.rewound": InProject & { ref: string; from: string; to: string | null };
}

type Named<Type> = Type extends `project.${infer Name}` ? Name : never;

/** The name of a project's event in the repository API, such as `checkin`. */
export type ProjectEventName = Named<keyof ProjectEventTypes>;

/** Every name once: the type makes a missing or an unknown one an error. */
const NAMES: Readonly<Record<ProjectEventName, true>> = {
  accepted: true,
  archived: true,
  attachment: true,
  changed: true,
  checkin: true,
  claim: true,
  created: true,
  forum: true,
  imported: true,
  job: true,
  landing: true,
  member_changed: true,
  mirror_changed: true,
  moved: true,
  overlap: true,
  protection_changed: true,
  release: true,
  removed: true,
  review: true,
  rewound: true,
  secret_changed: true,
  status: true,
  strikes_forgotten: true,
  tag: true,
  technote: true,
  ticket: true,
  ticket_field: true,
  unarchived: true,
  webhook_changed: true,
  wiki: true,
  workspace: true,
};

/** The names of a project's events in the repository API. */
export const PROJECT_EVENT_NAMES: readonly string[] = Object.keys(NAMES);
