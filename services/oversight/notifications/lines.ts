import { TextSet } from "../../engines/fossil/front/mod.ts";
import { LANDING_PREFIX } from "../../work/workspaces/mod.ts";
import { actorName, isByMuster, isOfLanding, type ProjectEvent } from "./events.ts";

/** A line of a project's channel. */
export interface Line {
  /** Lines of one kind share a rate. */
  readonly kind: string;
  readonly text: string;
}

/** Bytes of a line are bounded by the IRC server; this bounds what people must read. */
const MAX_LENGTH = 400;

type EventOf<Type> = Extract<ProjectEvent, { readonly type: Type }>;

/** What several events of a kind are called. */
const PLURALS: Readonly<Record<string, string>> = {
  checkin: "check-ins",
  claim: "changes of claims",
  ticket: "changes of tickets",
  workspace: "changes of workspaces",
  review: "changes of reviews",
  status: "passed checks",
  check: "passed checks",
  failure: "failed checks",
  wiki: "changes of wiki pages",
  forum: "posts in the forum",
  release: "changes of releases",
  landing: "steps of the landing queue",
  return: "reviews that came back from the landing queue",
  overlap: "conflicts between workspaces",
  answer: "changes of tickets",
  mention: "mentions",
  project: "changes of the project",
  question: "questions: say !questions",
  "question end": "answered questions",
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

/** The line of each type of event that people want to read. */
const WORDS: { readonly [Type in ProjectEvent["type"]]?: (event: EventOf<Type>) => Line | null } = {
  "project.checkin": checkinLine,
  "project.ticket": ticketLine,
  "project.claim": claimLine,
  "project.workspace": workspaceLine,
  "project.review": reviewLine,
  "project.status": statusLine,
  "project.wiki": ({ data: { name, user, is_deleted } }) => ({
    kind: "wiki",
    text: `${user} ${is_deleted ? "deleted" : "wrote"} the wiki page ${name}`,
  }),
  "project.forum": ({ data: { user } }) => ({ kind: "forum", text: `${user} posted in the forum` }),
  "project.release": releaseLine,
  "project.landing": ({ data }) => landingLine(data),
  "project.overlap": ({ data: { workspaces, conflicts } }) => {
    const names = workspaces.map(({ name, agent_id }) => `${name} of ${agent_id}`);
    const paths = [...new TextSet(conflicts.map(({ path }) => path))];
    const text = `Workspaces ${names.join(" and ")} conflict in ${listed(paths)}`;
    return { kind: "overlap", text };
  },
  "project.imported": (event) => {
    const { checkins, format } = event.data;
    const what = checkins === 1 ? "1 check-in" : `${checkins} check-ins`;
    return { kind: "project", text: `${actorName(event)} imported ${what} from ${format}` };
  },
  "project.rewound": ({ data: { ref, from, to } }) => ({
    kind: "project",
    text: `Upstream ${to === null ? "removed" : "rewrote"} ${ref}; it was at ${from.slice(0, 10)}`,
  }),
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

function checkinLine(event: EventOf<"project.checkin">): Line | null {
  const { uuid, user, branch, comment, push } = event.data;
  if (branch.startsWith(LANDING_PREFIX)) return null;
  const what = `${short(uuid)} to ${branch}${excerpt(comment)}`;
  if (push === undefined || push.checkins === 1) {
    return { kind: "checkin", text: `${user} committed ${what}` };
  }
  const others = push.branches.filter((one) => one !== branch);
  const also = others.length === 0 ? "" : `, also to ${listed(others)}`;
  return {
    kind: "checkin",
    text: `${actorName(event)} pushed ${push.checkins} check-ins${also}; the last is ${what}`,
  };
}

/**
 * The line of a change of a ticket. There is none for comments of muster itself and for tickets that
 * a landing closes, because the line of the landing says it.
 */
function ticketLine(event: EventOf<"project.ticket">): Line | null {
  const { title, status, user, fields, is_new: isNew } = event.data;
  if (isByMuster(event) || (isOfLanding(event) && fields.includes("status"))) return null;
  const name = `${ticketName(event.data)}${quoted(title)}`;
  const line = (text: string): Line => ({ kind: "ticket", text: `${user} ${text}` });
  if (isNew) return line(`filed ${name}`);
  const commented = fields.includes("icomment") ? "commented on " : "";
  if (fields.includes("status") && status !== "") {
    return line(`${commented === "" ? "" : `${commented}and `}set ${name} to ${status}`);
  }
  if (commented !== "") return line(commented + name);
  return line(`changed ${name}${excerpt(listed(fields))}`);
}

/** The line of a claim; null for what the line of the ticket or of its merge says. */
function claimLine(event: EventOf<"project.claim">): Line | null {
  const text = claimText(event);
  return text === null ? null : { kind: "claim", text };
}

function claimText(event: EventOf<"project.claim">): string | null {
  const { agent, status, by } = event.data;
  const name = ticketName(event.data);
  switch (status) {
    case "claimed":
    case "released":
      return `${agent} ${status} ${name}`;
    case "submitted":
      return `${agent} submitted the work on ${name}`;
    case "lapsed":
      return `The claim of ${agent} on ${name} expired`;
    case "closed":
      return by === null ? null : `${by} closed ${name}, which ${agent} held`;
    case "broken":
    case "revoked":
      return `${by ?? actorName(event)} ended the claim of ${agent} on ${name}`;
    default:
      return null;
  }
}

const WORKSPACE_VERBS: Readonly<Record<string, string>> = {
  created: "began",
  abandoned: "closed",
  restored: "reopened",
};

/** The line of a workspace; null for a merge by the landing queue, which has a line. */
function workspaceLine(event: EventOf<"project.workspace">): Line | null {
  const { name, action, agent_id: owner, previous_agent_id: before, target_branch } = event.data;
  if (action === "merged" && isOfLanding(event)) return null;
  const by = actorName(event);
  const line = (text: string): Line => ({ kind: "workspace", text: `${by} ${text}` });
  if (action === "taken_over") {
    const from = before === null ? "" : ` from ${before}`;
    return owner === by
      ? line(`took over workspace ${name}${from}`)
      : line(`moved workspace ${name}${from} to ${owner}`);
  }
  const workspace = `workspace ${name}${owner === by ? "" : ` of ${owner}`}`;
  if (action === "merged") return line(`merged ${workspace} into ${target_branch}`);
  return line(`${WORKSPACE_VERBS[action] ?? action} ${workspace}`);
}

function reviewLine(event: EventOf<"project.review">): Line | null {
  const text = reviewText(event);
  return text === null ? null : { kind: "review", text: `${event.data.by} ${text}` };
}

function reviewText(event: EventOf<"project.review">): string | null {
  const { id, title, action, status, round, reviewers } = event.data;
  const name = `review ${id}${quoted(title)}`;
  switch (action) {
    case "created":
      return `opened ${name}`;
    case "requested":
      return `asked ${listed(reviewers)} for a verdict on ${name}`;
    case "commented":
      return `commented on ${name}`;
    case "approved":
      return `approved ${name}${status === "approved" ? "" : ", which needs more approvals"}`;
    case "changes_requested":
      return `asked for changes in ${name}`;
    case "round":
      return `started round ${round} of ${name}`;
    case "merged":
      return isOfLanding(event) ? null : `merged ${name}`;
    case "closed":
      return `closed ${name} without a merge`;
    default:
      return null;
  }
}

/** What the end of a check is called. */
const CHECK_ENDS: Readonly<Record<string, string>> = {
  success: "passed",
  failure: "failed",
  error: "ended with an error",
};

function statusLine({ data }: EventOf<"project.status">): Line | null {
  const { checkin, context, state, previous_state, description, unread, review = null } = data;
  if (state === "pending" || state === previous_state || unread !== undefined) return null;
  const end = CHECK_ENDS[state] ?? state;
  const tested = review === null ? short(checkin) : `review ${review}`;
  const text = `The check ${oneLine(context, 100)} ${end} on ${tested}`;
  if (state === "success") return { kind: "status", text: text + excerpt(description) };
  return { kind: failureKind("status"), text: text + placeOf(data) + excerpt(description) };
}

/** Where people read why a check is red, in parentheses. */
function placeOf({ project, job, target_url }: EventOf<"project.status">["data"]): string {
  const place = job === undefined ? oneLine(target_url, 120) : `/projects/${project}/jobs/${job}`;
  return place === "" ? "" : ` (${place})`;
}

/**
 * The kind of lines about failures. It differs from that of other lines, whose summaries thus hide no
 * failure.
 *
 * @param kind the kind of an event or a notification
 */
export function failureKind(kind: string): string {
  return kind === "landing" ? "return" : "failure";
}

/** What happened to a release, in words: the status of its event is the verb, but for its files. */
export function releaseVerb(status: string): string {
  return status === "asset" ? "changed the files of" : status;
}

function releaseLine(event: EventOf<"project.release">): Line {
  const { tag_name, name, status } = event.data;
  const title = name === tag_name ? "" : quoted(name);
  return {
    kind: "release",
    text: `${actorName(event)} ${releaseVerb(status)} release ${tag_name}${title}`,
  };
}

function landingLine(data: EventOf<"project.landing">["data"]): Line | null {
  const text = landingText(data);
  if (text === null) return null;
  return { kind: data.status === "returned" ? failureKind("landing") : "landing", text };
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

/** Texts for notifications and lines in channels: one line, bounded, without control characters. */

/** Most characters of a title or a comment in a text. */
const MAX_TITLE = 80;
const MAX_EXCERPT = 240;

/** Most paths in a text. */
const MAX_PATHS = 3;

/**
 * Control and formatting characters, invisible ones, and those that change the direction of a text.
 */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\u2028\u2029]+/gu;

/** A text on one line, truncated, without characters that act on a terminal or an IRC client. */
export function oneLine(text: string, length: number): string {
  // Reads only a few more characters than it shows, so that a long text costs no more than a short
  // one.
  const line = text.slice(0, length * 4).replace(UNSAFE, " ").replace(/\s+/g, " ").trim();
  const characters = [...line];
  return characters.length <= length ? line : `${characters.slice(0, length - 1).join("")}…`;
}

/** A person's words as a part of a text; empty if there are none. */
export function excerpt(text: string): string {
  const line = oneLine(text, MAX_EXCERPT);
  return line === "" ? "" : `: ${line}`;
}

/** A title in quotation marks after a space; empty if there is none. */
export function quoted(title: string): string {
  const line = oneLine(title, MAX_TITLE);
  return line === "" ? "" : ` “${line}”`;
}

/** The start of a hash, long enough for people. */
export function short(hash: string): string {
  return hash.slice(0, 10);
}

/** What a text calls a ticket: by its number, else the start of its id. */
export function ticketName({ ticket, ticket_number: number = null }: {
  readonly ticket: string;
  readonly ticket_number?: number | null;
}): string {
  return `ticket ${number === null ? short(ticket) : `#${number}`}`;
}

/** Up to three paths, and how many more there are. */
export function listed(paths: readonly string[]): string {
  const shown = paths.slice(0, MAX_PATHS).map((path) => oneLine(path, MAX_TITLE)).join(", ");
  const more = paths.length - MAX_PATHS;
  return more > 0 ? `${shown} and ${more} more` : shown;
}

/** Most mentions of one text. */
const MAX_MENTIONS = 20;

/** `@` and a nick, not directly after a word. */
const MENTION = /(?<![\w.@/-])@([A-Za-z[\]\\`_^{|}][A-Za-z0-9[\]\\`_^{|}-]{0,63})/g;

/** The names that a text mentions with `@`. */
export function mentioned(text: string): readonly string[] {
  const names = Array.from(text.matchAll(MENTION), ([, name = ""]) => name);
  return [...new Set(names)].slice(0, MAX_MENTIONS);
}
