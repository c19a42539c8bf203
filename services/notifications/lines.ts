import { actorName, isByMuster, type ProjectEvent } from "./events.ts";
import { excerpt, listed, oneLine, quoted, short } from "./texts.ts";

/** A line of a project's channel. */
export interface Line {
  /** Lines of one kind share a rate. */
  readonly kind: string;
  readonly text: string;
}

/** Bytes of a line are bounded by the IRC server; this bounds what people must read. */
const MAX_LENGTH = 400;

/** What several events of a kind are called. */
const PLURALS: Readonly<Record<string, string>> = {
  checkin: "check-ins",
  claim: "changes of claims",
  ticket: "changes of tickets",
  workspace: "changes of workspaces",
  review: "changes of reviews",
  status: "statuses of checks",
  wiki: "changes of wiki pages",
  forum: "posts in the forum",
  release: "changes of releases",
  landing: "landings",
  overlap: "conflicts of workspaces",
  check: "statuses of checks",
  answer: "answers on tickets",
  mention: "mentions",
  project: "changes of the project",
};

/** The line of an event; null for one that people need not read. */
export function lineOf(event: ProjectEvent): Line | null {
  const words = WORDS[event.type] as ((event: ProjectEvent) => Line | null) | undefined;
  const line = words?.(event) ?? null;
  return line === null ? null : { ...line, text: oneLine(line.text, MAX_LENGTH) };
}

/** The line that stands for several events of a kind. */
export function summaryOf(kind: string, count: number): string {
  return `… and ${count} more ${PLURALS[kind] ?? `events (${kind})`}`;
}

type EventOf<Type> = Extract<ProjectEvent, { readonly type: Type }>;

/** The line of each type of event that people want to read. */
const WORDS: { readonly [Type in ProjectEvent["type"]]?: (event: EventOf<Type>) => Line | null } = {
  "project.checkin": ({ data: { uuid, user, branch, comment } }) =>
    branch.startsWith("landing/")
      ? null
      : { kind: "checkin", text: `${user} to ${branch}: ${comment} [${short(uuid)}]` },
  "project.ticket": (event) => {
    const { ticket, title, status, user, fields } = event.data;
    if (isByMuster(event)) return null;
    const verb = fields.includes("icomment") ? "commented on" : "changed";
    return {
      kind: "ticket",
      text: `${user} ${verb} ticket ${short(ticket)}${quoted(title)} (${status})`,
    };
  },
  "project.claim": (event) => ({ kind: "claim", text: claimText(event) }),
  "project.workspace": (event) => {
    const { name, action, agent_id: owner, target_branch: target } = event.data;
    const by = actorName(event);
    const into = action === "merged" ? ` into ${target}` : "";
    const of = owner === by ? "" : ` of ${owner}`;
    const text = `${by} ${WORKSPACE_VERBS[action] ?? action} workspace ${name}${of}${into}`;
    return { kind: "workspace", text };
  },
  "project.review": ({ data: { id, title, action, by, status, round } }) => {
    const verb = REVIEW_VERBS[action];
    if (verb === undefined) return null;
    const more = action === "round" ? `: round ${round}` : ` (${status.replace("_", " ")})`;
    return { kind: "review", text: `${by} ${verb} review ${id}${quoted(title)}${more}` };
  },
  "project.status": ({ data: { checkin, context, state, previous_state, description } }) => {
    if (state === "pending" || state === previous_state) return null;
    const text = `${oneLine(context, 100)}: ${state} on ${short(checkin)}${excerpt(description)}`;
    return { kind: "status", text };
  },
  "project.wiki": ({ data: { name, user, is_deleted } }) => ({
    kind: "wiki",
    text: `${user} ${is_deleted ? "deleted" : "wrote"} wiki page ${name}`,
  }),
  "project.forum": ({ data: { user } }) => ({ kind: "forum", text: `${user} wrote in the forum` }),
  "project.release": (event) => {
    const { tag_name, name, status } = event.data;
    const text = `${actorName(event)} ${status} release ${tag_name}${quoted(name)}`;
    return { kind: "release", text };
  },
  "project.landing": ({ data }) => landingLine(data),
  "project.overlap": ({ data: { workspaces, conflicts } }) => {
    const names = workspaces.map(({ name, agent_id }) => `${name} of ${agent_id}`);
    const paths = [...new Set(conflicts.map(({ path }) => path))];
    const text = `Workspaces ${names.join(" and ")} conflict in ${listed(paths)}`;
    return { kind: "overlap", text };
  },
  "project.imported": (event) => {
    const { checkins, format } = event.data;
    const text = `${actorName(event)} imported ${checkins} check-ins (${format})`;
    return { kind: "project", text };
  },
  "project.archived": (event) => ({
    kind: "project",
    text: `${actorName(event)} archived the project`,
  }),
  "project.unarchived": (event) => ({
    kind: "project",
    text: `${actorName(event)} made the project active again`,
  }),
  "project.protection_changed": (event) => ({
    kind: "project",
    text: `${actorName(event)} changed the rules of protected branches`,
  }),
  "project.ticket_field": (event) => ({
    kind: "project",
    text: `${actorName(event)} ${event.data.action} the ticket field ${event.data.name}`,
  }),
};

const WORKSPACE_VERBS: Readonly<Record<string, string>> = {
  created: "began",
  abandoned: "closed",
  taken_over: "took over",
};

const CLAIM_VERBS: Readonly<Record<string, string>> = {
  claimed: "claimed",
  released: "released",
  submitted: "submitted the work on",
  merged: "merged the work on",
};

const REVIEW_VERBS: Readonly<Record<string, string>> = {
  created: "opened",
  requested: "asked for verdicts on",
  commented: "commented on",
  approved: "approved",
  changes_requested: "asks for changes in",
  round: "changed",
  merged: "merged",
  closed: "closed",
};

function claimText(event: EventOf<"project.claim">): string {
  const { agent, ticket, status, by } = event.data;
  const name = `ticket ${short(ticket)}`;
  if (status === "broken" || status === "revoked") {
    return `${by ?? actorName(event)} ended the claim of ${agent} on ${name}`;
  }
  if (status === "lapsed") return `The claim of ${agent} on ${name} ran out`;
  return `${agent} ${CLAIM_VERBS[status] ?? status} ${name}`;
}

function landingLine(data: EventOf<"project.landing">["data"]): Line | null {
  const text = landingText(data);
  return text === null ? null : { kind: "landing", text };
}

/** What happened to a review in the landing queue; null for what nobody need read. */
export function landingText(data: EventOf<"project.landing">["data"]): string | null {
  const { review, title, agent, target_branch: target, status, candidate, reason } = data;
  const change = `Review ${review}${quoted(title)} of ${agent}`;
  if (status === "queued") return `${change} waits in the landing queue of ${target}`;
  if (status === "landed") return `${change} landed on ${target} as ${short(candidate ?? "")}`;
  if (status !== "returned") return null;
  const details = [...data.conflicts.map(({ path }) => path), ...data.contexts];
  const why = details.length === 0 ? "" : ` (${listed(details)})`;
  return `${change} came back from the landing queue${excerpt(reason ?? "")}${why}`;
}
