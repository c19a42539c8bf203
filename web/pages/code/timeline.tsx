import type { Child } from "hono/jsx";
import type { z } from "zod";
import { shownText } from "../../../services/engines/fossil/front/mod.ts";
import { getActivity, getTimeline } from "../../../services/work/code/operations.ts";
import type { activitySchema, timelineSchema } from "../../../services/work/code/schemas.ts";
import type { Signatures } from "../../../services/work/signatures/mod.ts";
import type { SignatureView } from "../../../services/work/signatures/schemas.ts";
import type { ProjectAddresses } from "../../addresses.ts";
import { definePage, type View } from "../../page.ts";
import { activityWords } from "../../parts/activity_words.ts";
import { CheckinLink, firstLine, readBranchesAndTags } from "../../parts/files.tsx";
import { GraphCell, type GraphRows, lanesOf } from "../../parts/graph.tsx";
import { Empty, Pager } from "../../parts/lists.tsx";
import { PublicHead } from "../../parts/public_head.tsx";
import { SignatureBadge } from "../../parts/signature.tsx";
import { Time } from "../../parts/time.tsx";
import { CodeProject } from "../../code_project.ts";
import { type Query, type Visit, withQuery } from "../../visit.ts";

/** What happened in a project: check-ins with their graph, or events of every kind. */
export const page = definePage({
  opens: "anybody",
  show,
  json: (visit) => withQuery("/api/timeline", filtersOf(visit)),
});

const PER_PAGE = 50;

export type TimelineCheckin = z.output<typeof timelineSchema>["checkins"][number];
type Event = z.output<typeof activitySchema>["events"][number];

/** Kinds of events, with the words of the filter. Check-ins have their graph. */
const KINDS = [
  ["checkin", "Check-ins"],
  ["all", "Everything"],
  ["wiki", "Wiki"],
  ["ticket", "Tickets"],
  ["technote", "Technotes"],
  ["forum", "Forum"],
  ["tag", "Tags"],
] as const;

/** The filters of check-ins in the address. */
export function filtersOf(visit: Visit) {
  return {
    branch: visit.query("branch"),
    user: visit.query("user"),
    path: visit.query("path"),
    before: visit.query("before"),
    after: visit.query("after"),
  };
}

async function show(visit: Visit): Promise<View | Response> {
  const project = new CodeProject(visit);
  const kind = KINDS.find(([name]) => name === visit.query("type"))?.[0] ?? "checkin";
  const paging = { page: visit.pageNumber, per_page: PER_PAGE };
  const [{ branches }, shown] = await Promise.all([
    readBranchesAndTags(project),
    kind === "checkin"
      ? readCheckins(project, { ...filtersOf(visit), ...paging })
      : readEvents(project, { ...filtersOf(visit), kind, ...paging }),
  ]);
  if (shown.page > shown.pages) {
    const query = Object.fromEntries(visit.url.searchParams);
    return visit.context.redirect(
      withQuery(visit.url.pathname, { ...query, page: shown.pages }),
      303,
    );
  }
  const body = (
    <>
      <div class="page-head">
        <h1>Timeline</h1>
        <a href={withQuery(project.to.at("/timeline.atom"), filtersOf(visit))}>Atom feed</a>
      </div>
      <Filters {...{ visit, kind }} branches={branches.map(({ name }) => name)} />
      <p class="soft small">{shown.count}</p>
      <div data-live-part="timeline" data-live-on="checkin wiki ticket tag technote forum">
        {shown.list}
      </div>
      <Pager visit={visit} page={shown.page} pages={shown.pages} />
    </>
  );
  return {
    title: `Timeline · ${project.view.name}`,
    body,
    project: project.place("timeline"),
    live: `/live/projects/${project.slug}`,
    head: <PublicHead project={project} title={`Timeline · ${project.view.name}`} />,
  };
}

/** A list with what its page says of it. */
interface Shown {
  readonly count: string;
  readonly list: Child;
  readonly page: number;
  readonly pages: number;
}

async function readCheckins(project: CodeProject, query: Query): Promise<Shown> {
  const timeline = await project.invoke(getTimeline, { ...query, graph: "true" });
  const { total, checkins, graph = [] } = timeline;
  const signatures = await project.visit.services.hosting.signatures.of(
    project.access.project,
    checkins.map(({ uuid }) => uuid),
  );
  return {
    count: total === 1 ? "1 check-in" : `${total.toLocaleString("en")} check-ins`,
    list: checkins.length === 0
      ? (
        <Empty>
          No check-in matches. <a href={project.to.at("/timeline")}>Show all</a>
        </Empty>
      )
      : <CheckinRows {...{ project, checkins, graph, signatures }} />,
    page: timeline.page,
    pages: timeline.total_pages,
  };
}

async function readEvents(
  project: CodeProject,
  { kind, user, before, after, page, per_page }: Query,
): Promise<Shown> {
  const activity = await project.invoke(getActivity, {
    kind: kind === "all" ? undefined : kind,
    user,
    before,
    after,
    page,
    per_page,
  });
  const { total, events } = activity;
  return {
    count: total === 1 ? "1 event" : `${total.toLocaleString("en")} events`,
    list: events.length === 0
      ? <Empty>Nothing of this kind happened.</Empty>
      : (
        <ul class="list" data-keys="list">
          {events.map((event) => (
            <li>
              <EventRow to={project.to} event={event} />
            </li>
          ))}
        </ul>
      ),
    page: activity.page,
    pages: activity.total_pages,
  };
}

/** Check-ins with the lines between them. */
function CheckinRows({ project, checkins, graph, signatures }: {
  readonly project: CodeProject;
  readonly checkins: readonly TimelineCheckin[];
  readonly graph: GraphRows;
  readonly signatures: Awaited<ReturnType<Signatures["of"]>>;
}) {
  const lanes = lanesOf(graph);
  return (
    <ol class={`timeline lanes-${lanes}`} data-keys="list">
      {checkins.map((checkin, index) => {
        const row = graph[index];
        return (
          <li>
            {row !== undefined && (
              <GraphCell
                row={row}
                above={graph[index - 1]}
                lanes={lanes}
                isMerge={checkin.is_merge}
                isLeaf={checkin.is_leaf}
              />
            )}
            <CheckinEntry
              to={project.to}
              checkin={checkin}
              signature={signatures.get(checkin.uuid)}
              isNewDay={dayOf(checkin) !== dayOf(checkins[index - 1])}
            />
          </li>
        );
      })}
    </ol>
  );
}

/** Longest message of an entry, in characters, and most tags. */
const [MAX_MESSAGE, MAX_TAGS] = [300, 8];

/** An imported repository has this tag on every check-in of its main branch. */
const TRUNK = "trunk";

/** The day of a check-in (UTC); "" if there is none. */
function dayOf(checkin: TimelineCheckin | undefined): string {
  return checkin?.timestamp.slice(0, 10) ?? "";
}

function CheckinEntry({ to, checkin, signature, isNewDay }: {
  readonly to: ProjectAddresses;
  readonly checkin: TimelineCheckin;
  readonly signature: SignatureView | undefined;
  /** Whether it is the first one of its day in the list. */
  readonly isNewDay: boolean;
}) {
  const { uuid, user, branch, tags, timestamp } = checkin;
  return (
    <div class="timeline-entry">
      {isNewDay && <span class="timeline-day soft small">{dayOf(checkin)}</span>}
      <p>
        <a class="checkin-message" href={to.checkin(uuid)}>
          {firstLine(checkin.comment).slice(0, MAX_MESSAGE)}
        </a>
        {tags.filter((tag) => tag !== TRUNK).slice(0, MAX_TAGS).map((tag) => (
          <>
            {" "}
            <span class="badge accent">{shownText(tag, "name")}</span>
          </>
        ))}
        <SignatureBadge signature={signature} />
        {checkin.is_leaf && checkin.is_closed && (
          <>
            {" "}
            <span class="badge">closed</span>
          </>
        )}
      </p>
      <p class="soft small">
        <CheckinLink to={to} uuid={uuid} />{" "}
        <a class="plain-link" href={to.at("/timeline", { user })}>{user}</a>
        {" on "}
        <a class="plain-link" href={to.at("/timeline", { branch })}>{shownText(branch, "name")}</a>,
        {" "}
        <Time at={timestamp} />
      </p>
    </div>
  );
}

const WORDS: Readonly<Record<Event["kind"], string>> = {
  checkin: "check-in",
  wiki: "wiki",
  ticket: "ticket",
  technote: "technote",
  forum: "forum",
  tag: "tag",
};

function EventRow({ to, event }: { readonly to: ProjectAddresses; readonly event: Event }) {
  const { words, target } = activityWords(to, event);
  return (
    <>
      <div class="row">
        <span class="badge">{WORDS[event.kind]}</span>
        {target === null ? <span>{words}</span> : <a href={target}>{words}</a>}
      </div>
      <p class="soft small entry-text">
        {event.user}, <Time at={event.timestamp} />
      </p>
    </>
  );
}

/** Branches offered in the filter. */
const MAX_BRANCHES = 100;

function Filters({ visit, kind, branches }: {
  readonly visit: Visit;
  readonly kind: string;
  readonly branches: readonly string[];
}) {
  const { branch, user, path } = filtersOf(visit);
  const offered = branches.slice(0, MAX_BRANCHES);
  const named = branch === undefined || offered.includes(branch) ? offered : [branch, ...offered];
  return (
    <form class="code-filters">
      <div class="field">
        <label for="type">Show</label>
        <select id="type" name="type">
          {KINDS.map(([value, words]) => (
            <option value={value} selected={value === kind}>{words}</option>
          ))}
        </select>
      </div>
      <div class="field">
        <label for="branch">Branch</label>
        <select id="branch" name="branch">
          <option value="">All branches</option>
          {named.map((name) => (
            <option value={name} selected={name === branch}>
              {name}
            </option>
          ))}
        </select>
      </div>
      <div class="field">
        <label for="user">User</label>
        <input id="user" name="user" value={user} />
      </div>
      <div class="field">
        <label for="path">File or folder</label>
        <input id="path" name="path" value={path} />
      </div>
      <button type="submit">Filter</button>
    </form>
  );
}
