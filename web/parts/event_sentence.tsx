import type { Child } from "hono/jsx";
import type { LoggedEvent } from "../../services/engines/events/mod.ts";
import { encodePath } from "../addresses.ts";
import { isByMuster, releaseVerb } from "../../services/oversight/notifications/mod.ts";
import { PersonLink } from "./account_name.tsx";

/** The data of an event, whose fields depend on its type. */
type Data = Readonly<Record<string, unknown>>;

/** Says what the actor did, such as "claimed the ticket 1a2b". */
type Sentence = (data: Data) => Child;

/** Titles of tickets by their ids, for events that name only the id. */
export type Titles = ReadonlyMap<string, string>;

/** An event as a sentence with links: who did what, and where. */
export function EventSentence({ event, titles, withActor = true }: {
  readonly event: LoggedEvent;
  readonly titles?: Titles;
  readonly withActor?: boolean;
}) {
  const { type } = event;
  const title = titles?.get(text(event.data["ticket"]));
  const data = title === undefined ? event.data : Object.assign({ title }, event.data);
  const sentence = SENTENCES[type];
  const where = text(data["project"]);
  return (
    <span class="sentence">
      {withActor && <Actor event={event} />}{" "}
      {sentence === undefined ? <Unknown event={event} /> : sentence(data)}
      {type.startsWith("project.") && where !== "" && (
        <>
          {ABOUT_PROJECTS.has(type) ? " " : " in "}
          <a href={`/projects/${where}`}>{where}</a>
        </>
      )}
    </span>
  );
}

/** An event that has no sentence: its type in words. */
function Unknown({ event }: { readonly event: LoggedEvent }) {
  const words = event.type.replace(/^project\./, "").replaceAll(/[._]/g, " ");
  return <span>caused “{words}”</span>;
}

function Actor({ event }: { readonly event: LoggedEvent }) {
  const { type, actor, data } = event;
  if (type.startsWith("project.") && isByMuster(event)) return <b>muster</b>;
  // The server itself files what a push brought; its author did it.
  const user = type.startsWith("project.") && actor === "system" ? text(data["user"]) : "";
  const [kind = "", name = actor] = user === "" ? actor.split(/:(.*)/s) : ["", user];
  if (kind === "agent") return <a href={`/agents/${encodeURIComponent(name)}`}>{name}</a>;
  if (kind === "person" || kind === "admin") return <PersonLink name={name} />;
  return <b>{name === "system" ? "muster" : name}</b>;
}

function text(value: unknown): string {
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
}

function agent({ nick }: Data): Child {
  return <a href={`/agents/${encodeURIComponent(text(nick))}`}>{text(nick)}</a>;
}

/** Whom a halt or its end is about. */
function halted({ agents, types }: Data): string {
  const names = [agents, types].flatMap((list) => Array.isArray(list) ? list.map(String) : []);
  return names.length === 0 ? "all agents" : new Intl.ListFormat("en").format(names);
}

function checkin(data: Data, id: unknown): Child {
  const uuid = text(id);
  return (
    <a class="mono" href={`/projects/${text(data["project"])}/checkin/${uuid}`}>
      {uuid.slice(0, 10)}
    </a>
  );
}

function ticket(data: Data): Child {
  const uuid = text(data["ticket"]);
  const number = text(data["ticket_number"]);
  const words = text(data["title"]) || (number === "" ? uuid.slice(0, 10) : `#${number}`);
  return <a href={`/projects/${text(data["project"])}/tickets/${uuid}`}>{words}</a>;
}

function review(data: Data): Child {
  const { id, title } = data;
  return <a href={`/projects/${text(data["project"])}/reviews/${text(id)}`}>{text(title)}</a>;
}

function question({ question: id }: Data): Child {
  return <a href={`/questions/${text(id)}`}>question {text(id)}</a>;
}

function channel({ channel }: Data): Child {
  const name = text(channel);
  return <a href={`/channels/${encodeURIComponent(name.replace(/^#/, ""))}`}>{name}</a>;
}

/** Where a bot acted. */
function place({ channel: name }: Data): Child {
  return name === null ? "in all channels" : <>in {channel({ channel: name })}</>;
}

const CLAIM_VERBS: Readonly<Record<string, string>> = {
  claimed: "claimed",
  released: "released",
  submitted: "submitted",
  merged: "merged the work on",
  closed: "closed",
  lapsed: "let the claim lapse on",
  broken: "ended the claim on",
  revoked: "lost, with its account, the claim on",
};

const REVIEW_VERBS: Readonly<Record<string, string>> = {
  created: "asked for the review",
  requested: "asked for reviewers of",
  request_withdrawn: "withdrew a request to review",
  commented: "commented on",
  approved: "approved",
  changes_requested: "requested changes of",
  round: "started the next round of",
  merged: "merged",
  closed: "closed the review",
};

const LANDING_WORDS: Readonly<Record<string, string>> = {
  queued: "queued for landing:",
  testing: "tests before landing:",
  landed: "landed",
  returned: "returned from the landing queue:",
};

/** What happens to a whole project, whose name the sentence ends with. */
const ABOUT_PROJECTS: ReadonlySet<string> = new Set([
  "project.created",
  "project.archived",
  "project.unarchived",
  "project.removed",
]);

/** What happens in projects. */
const OF_PROJECTS: Readonly<Record<string, Sentence>> = {
  "project.created": () => "made the project",
  "project.changed": () => "changed the settings",
  "project.archived": () => "archived the project",
  "project.unarchived": () => "opened the archived project again",
  "project.removed": () => "removed the project",
  "project.imported": (data) => `imported ${text(data["checkins"])} check-ins`,
  "project.moved": (data) =>
    `${data["restored"] === true ? "restored" : "moved"} the project to the node ${
      text(data["to"])
    }`,
  "project.member_changed": (data) =>
    data["role"] === null
      ? `removed ${text(data["account"])} from the members`
      : `gave ${text(data["account"])} the role ${text(data["role"])}`,
  "project.checkin": (data) => (
    <>
      {pushed(data)} {checkin(data, data["uuid"])}: <span>{firstLine(data["comment"])}</span>
    </>
  ),
  "project.tag": (data) => `changed ${tagsOf(data)}`,
  "project.ticket": (data) => <>{ticketVerb(data)} {ticket(data)}</>,
  "project.claim": (data) => <>{CLAIM_VERBS[text(data["status"])] ?? "touched"} {ticket(data)}</>,
  "project.strikes_forgotten": (data) => <>offered {ticket(data)} to agents again</>,
  "project.workspace": (data) => (
    <>
      {text(data["action"]).replace("_", " ")} the workspace{" "}
      <a
        href={`/projects/${text(data["project"])}/workspaces/${
          encodeURIComponent(text(data["name"]))
        }`}
      >
        {text(data["name"])}
      </a>
    </>
  ),
  "project.overlap": () => "saw two workspaces begin to conflict",
  "project.review": (data) => <>{REVIEW_VERBS[text(data["action"])] ?? "changed"} {review(data)}</>,
  "project.status": (data) => (
    <>
      reported {text(data["context"])}: {text(data["state"])} for {checkin(data, data["checkin"])}
    </>
  ),
  "project.wiki": (data) => (
    <>
      {data["is_deleted"] === true ? "deleted" : "edited"} the wiki page{" "}
      <a
        href={`/projects/${text(data["project"])}/wiki/${encodePath(text(data["name"]))}${
          data["is_deleted"] === true ? "?view=history" : ""
        }`}
      >
        {text(data["name"])}
      </a>
    </>
  ),
  "project.release": (data) =>
    `${releaseVerb(text(data["status"]))} ${text(data["name"]) || text(data["tag_name"])}`,
  "project.landing": (data) => <>{LANDING_WORDS[text(data["status"])] ?? "moved"} {review(data)}</>,
  "project.protection_changed": () => "changed the rules of branches",
  "project.webhook_changed": (data) => `changed a webhook (${text(data["action"])})`,
  "project.mirror_changed": (data) => `changed the mirror (${text(data["action"])})`,
  "project.rewound": (data) =>
    `${data["to"] === null ? "removed" : "moved"} ${text(data["ref"])} as upstream did, from ${
      text(data["from"]).slice(0, 10)
    }`,
  "project.attachment": (data) => `attached ${text(data["name"])}`,
  "project.technote": (data) => (
    <>
      wrote a{" "}
      <a href={`/projects/${text(data["project"])}/technotes/${encodePath(text(data["name"]))}`}>
        technote
      </a>
    </>
  ),
  "project.forum": (data) => (
    <>
      wrote in{" "}
      <a href={`/projects/${text(data["project"])}/forum/${encodePath(text(data["thread"]))}`}>
        a thread
      </a>{" "}
      of the forum
    </>
  ),
};

/** What happens on the server. */
const OF_THE_SERVER: Readonly<Record<string, Sentence>> = {
  "agent.registered": (data) => <>registered the agent {agent(data)}</>,
  "agent.adopted": (data) => <>made {agent(data)} an agent</>,
  "agent.rotated": (data) => <>gave {agent(data)} a new passphrase</>,
  "agent.session_began": (data) => `began the session ${text(data["session"])}`,
  "agent.session_ended": (data) => `ended the session ${text(data["session"])}`,
  "agent.paused": (data) => <>paused {agent(data)}</>,
  "agent.resumed": (data) => <>resumed {agent(data)}</>,
  "agents.halted": (data) => <>halted {halted(data)}</>,
  "agents.resumed": (data) => <>resumed {halted(data)}</>,
  "agent.rate_changed": (data) => <>changed the rate of {agent(data)}</>,
  "agent.slots_changed": (data) => <>changed the slots of {agent(data)}</>,
  "agent.revoked": (data) => <>revoked {agent(data)}</>,
  "agent.deleted": (data) => `deleted the agent ${text(data["nick"])}`,
  "account.created": (data) => `made the account ${text(data["account"])}`,
  "account.deleted": (data) => `removed the account ${text(data["account"])}`,
  "account.password_changed": (data) => `changed the password of ${text(data["account"])}`,
  "account.logged_in": () => "logged in",
  "account.logged_out": () => "logged out",
  "admin.logged_in": () => "logged in",
  "admin.logged_out": () => "logged out",
  "admin.created": (data) => `made ${text(data["username"])} an admin`,
  "admin.deleted": (data) => `removed the admin ${text(data["username"])}`,
  "admin.password_changed": (data) => `changed the password of ${text(data["username"])}`,
  "access.refused": (data) => `refused credentials ${times(data["count"])} (${text(data["door"])})`,
  "api_token.rotated": () => "replaced the API token",
  "token.created": (data) => `made the token “${text(data["name"])}”${ofOwner(data)}`,
  "token.revoked": (data) => `revoked the token “${text(data["name"])}”`,
  "llm_backend.created": (data) => `made the LLM backend ${text(data["name"])}`,
  "llm_backend.changed": (data) => `changed the LLM backend ${text(data["name"])}`,
  "llm_backend.deleted": (data) => `removed the LLM backend ${text(data["name"])}`,
  "llm.called": (data) => `called the model ${text(data["model"])}${endOf(data)}`,
  "llm_budget.set": (data) => `set the budget ${text(data["budget"])}`,
  "llm_budget.deleted": (data) => `removed the budget ${text(data["budget"])}`,
  "llm_budget.warned": (data) => `warned of the budget ${text(data["budget"])}`,
  "llm_budget.exceeded": (data) => `saw the budget ${text(data["budget"])} used up`,
  "question.asked": (data) => <>asked {question(data)}</>,
  "question.answered": (data) => <>answered {question(data)} of {text(data["asker"])}</>,
  "question.expired": (data) => <>ended {question(data)} of {text(data["asker"])}</>,
  "question.withdrawn": (data) => <>withdrew {question(data)} of {text(data["asker"])}</>,
  "bot.started": () => "started",
  "bot.stopped": () => "stopped",
  "bot.failed": () => "failed and is started again",
  "policy.changed": () => "changed policies",
  "webhook.changed": (data) => `changed a webhook of the server (${text(data["action"])})`,
  "program.started": (data) => `started, version ${text(data["version"])}`,
  "program.reloaded": () => "loaded the configuration again",
  "program.log_level_changed": ({ level }) => <>changed the level of the log to {level}</>,
  "program.stopped": () => "stopped",
  "irc.channel_registered": (data) => <>registered {channel(data)}</>,
  "irc.channel_dropped": (data) => <>dropped {channel(data)}</>,
  "irc.channel_transferred": (data) => <>gave {channel(data)} to {text(data["founder"])}</>,
  "irc.channel_access_changed": (data) => (
    <>changed what {text(data["account"])} may do in {channel(data)}</>
  ),
  "irc.channel_renamed": (data) => <>renamed {channel(data)} to {text(data["to"])}</>,
  "irc.modes_changed": (data) => <>changed the modes of {channel(data)}: {text(data["changes"])}</>,
  "irc.message_redacted": (data) => (
    <>removed a message of {text(data["nick"])} in {channel(data)}</>
  ),
  "irc.topic_changed": (data) => <>changed the topic of {channel(data)}</>,
  "irc.banned": (data) => `banned ${text(data["mask"])}`,
  "irc.unbanned": (data) => `lifted the ban of ${text(data["mask"])}`,
  "irc.killed": (data) => `disconnected ${text(data["nick"])}`,
  "irc.warned": (data) => `warned ${text(data["nick"])}: ${text(data["reason"])}`,
  "irc.muted": (data) => <>muted {text(data["nick"])} {place(data)}: {text(data["reason"])}</>,
  "irc.unmuted": (data) => <>lifted the mute of {text(data["nick"])} {place(data)}</>,
  "irc.removed": (data) => <>removed {text(data["nick"])} {place(data)}: {text(data["reason"])}</>,
  "irc.kicked": (data) => <>kicked {text(data["nick"])} from {channel(data)}</>,
};

/** The fields of a ticket that a comment sets. */
const PARTS_OF_COMMENTS: ReadonlySet<unknown> = new Set(["icomment", "login", "mimetype"]);

const SENTENCES: Readonly<Record<string, Sentence>> = Object.assign({}, OF_PROJECTS, OF_THE_SERVER);

/** A change of fields next to a comment matters more than the comment. */
function ticketVerb({ is_new: isNew, fields }: Data): string {
  if (isNew === true) return "filed";
  const changed = Array.isArray(fields) ? fields : [];
  const isComment = changed.includes("icomment") &&
    changed.every((field) => PARTS_OF_COMMENTS.has(field));
  return isComment ? "commented on" : "changed";
}

/** The names of tags, without the kind that Fossil puts in front. */
/** How a check-in came: a push of Git may bring many at once. */
function pushed({ push }: Data): string {
  const { checkins } = (push ?? {}) as { readonly checkins?: unknown };
  return typeof checkins === "number" && checkins > 1
    ? `pushed ${checkins} check-ins, the last is`
    : "committed";
}

function tagsOf({ tags }: Data): string {
  const names = (Array.isArray(tags) ? tags : [])
    .map((tag: { name?: unknown }) => text(tag.name).replace(/^sym-/, ""));
  const [first = ""] = names;
  return names.length === 1 ? `the tag ${first}` : `${names.length} tags`;
}

function firstLine(value: unknown): string {
  const [line = ""] = text(value).split("\n", 1);
  return line.length > 120 ? `${line.slice(0, 119)}…` : line;
}

function times(count: unknown): string {
  return count === 1 ? "once" : `${text(count)} times`;
}

/** How a call of a model ended, unless it went well. */
function endOf({ outcome }: Data): string {
  return outcome === "failed" || outcome === "cancelled" ? ` (${outcome})` : "";
}

function ofOwner({ owner }: Data): string {
  return typeof owner === "string" ? ` for ${owner}` : "";
}
