import { Columns3, List, Plus } from "lucide-static";
import { changeTicket, listTickets } from "../../../services/work/tickets/operations.ts";
import { definePage, type Leads, type View } from "../../page.ts";
import { Filters, linkWith, SearchFilter, Segments, SelectFilter } from "../../parts/filters.tsx";
import { GivenWork, membersOf } from "../../parts/given_work.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Empty, Pager } from "../../parts/lists.tsx";
import {
  type Holding,
  holdingOf,
  TicketHolder,
  TicketName,
  TicketStatus,
  TicketWords,
} from "../../parts/ticket_badges.tsx";
import { Time } from "../../parts/time.tsx";
import { type OpenProject, openProject } from "../../project.ts";
import { type Query, type Visit, withQuery } from "../../visit.ts";
import { Board, type ListedTicket, type TicketListAnswer } from "./board.tsx";
import { choicesOf } from "../../parts/ticket_words.ts";

const PER_PAGE = 50;

/** The parameters of the query that the route takes too. */
const FILTERS = [
  "type",
  "priority",
  "severity",
  "subsystem",
  "assignee",
  "label",
  "blocked",
  "search",
  "field",
  "value",
] as const;

const ORDERS = [
  ["modified", "Last changed"],
  ["priority", "Priority"],
  ["severity", "Severity"],
  ["title", "Title"],
] as const;

/** The tickets of a project, as a list or as a board. */
export const page = definePage({
  opens: "anybody",
  show,
  actions: { move },
  json: (visit) => withQuery("/api/tickets", queryOf(visit)),
});

async function show(visit: Visit): Promise<View> {
  const project = openProject(visit);
  const isBoard = visit.query("view") === "board";
  const filters = filtersOf(visit);
  const query = queryOf(visit);
  const [listed, all] = await Promise.all([
    isBoard ? null : visit.invoke(project.slug, listTickets, query),
    visit.invoke(project.slug, listTickets, { ...filters, per_page: 1 }),
  ]);
  const board = isBoard ? await Board({ visit, project, filters, all }) : null;
  const body = (
    <>
      <Head project={project} visit={visit} isBoard={isBoard} />
      <TicketFilters {...{ visit, project, all, isBoard }} />
      {listed === null ? board : <TicketList visit={visit} project={project} listed={listed} />}
    </>
  );
  return { title: "Tickets", body, project: project.place("tickets"), live: project.live };
}

/** What the route is asked for the list. */
function queryOf(visit: Visit): Query {
  const state = stateOf(visit);
  return {
    ...filtersOf(visit),
    sort: visit.query("sort"),
    status: visit.query("status"),
    state: state === "all" || visit.query("status") !== undefined ? undefined : state,
    page: visit.pageNumber,
    per_page: PER_PAGE,
  };
}

function filtersOf(visit: Visit): Query {
  return Object.fromEntries(FILTERS.map((name) => [name, visit.query(name)]));
}

/** Which tickets the list shows: open ones by default. */
function stateOf(visit: Visit): "open" | "closed" | "all" {
  const state = visit.query("state");
  return state === "closed" || state === "all" ? state : "open";
}

function Head({ project, visit, isBoard }: {
  readonly project: OpenProject;
  readonly visit: Visit;
  readonly isBoard: boolean;
}) {
  return (
    <div class="page-head">
      <h1>Tickets</h1>
      <div class="row">
        <nav class="segments" aria-label="View">
          <a
            href={linkWith(visit, { view: undefined })}
            aria-current={isBoard ? undefined : "true"}
          >
            <Icon svg={List} /> List
          </a>
          <a href={linkWith(visit, { view: "board" })} aria-current={isBoard ? "true" : undefined}>
            <Icon svg={Columns3} /> Board
          </a>
        </nav>
        {project.mayWrite && (
          <a class="button primary" href={`${project.base}/tickets/new`}>
            <Icon svg={Plus} /> New ticket
          </a>
        )}
      </div>
    </div>
  );
}

function TicketFilters({ visit, project, all, isBoard }: {
  readonly visit: Visit;
  readonly project: OpenProject;
  readonly all: TicketListAnswer;
  readonly isBoard: boolean;
}) {
  const count = (isClosed: boolean) =>
    all.statuses.filter((status) => status.is_closed === isClosed)
      .reduce((sum, status) => sum + status.count, 0);
  const state = visit.query("status") === undefined ? stateOf(visit) : null;
  const to = (name: string | undefined) => linkWith(visit, { state: name, status: undefined });
  const assignees = [
    ...visit.session === null ? [] : [["me", "Mine"] as const],
    ["nobody", "Nobody's"] as const,
    ...membersOf(visit, project).map((name) => [name, name] as const),
  ];
  const statuses = all.statuses.map(({ name, count }) => [name, `${name} (${count})`] as const);
  return (
    <div class="list-tools stacked">
      {!isBoard && (
        <Segments
          label="State"
          links={[
            { to: to(undefined), words: "Open", count: count(false), isCurrent: state === "open" },
            {
              to: to("closed"),
              words: "Closed",
              count: count(true),
              isCurrent: state === "closed",
            },
            { to: to("all"), words: "All", count: all.total, isCurrent: state === "all" },
          ]}
        />
      )}
      <Filters
        visit={visit}
        keep={["view", "state", "field", "value", ...UNLISTED]}
        label="Filter tickets"
      >
        <SearchFilter visit={visit} label="Words of the title, or an id" />
        {!isBoard && (
          <SelectFilter
            visit={visit}
            name="status"
            label="Status"
            any="Any status"
            options={statuses}
          />
        )}
        <SelectFilter
          visit={visit}
          name="type"
          label="Type"
          any="Any type"
          options={choicesOf("type")}
        />
        <SelectFilter
          visit={visit}
          name="priority"
          label="Priority"
          any="Any priority"
          options={choicesOf("priority")}
        />
        <SelectFilter
          visit={visit}
          name="assignee"
          label="Assignee"
          any="Anybody's"
          options={assignees}
        />
        <SelectFilter
          visit={visit}
          name="blocked"
          label="Waiting"
          any="Blocked or not"
          options={[["false", "Not blocked"], ["true", "Blocked"]]}
        />
        {!isBoard && (
          <SelectFilter visit={visit} name="sort" label="Order" any="Newest" options={ORDERS} />
        )}
      </Filters>
      <ChosenWords visit={visit} />
    </div>
  );
}

/** Filters that have no field in the form; a click on the word of a ticket sets them. */
const UNLISTED = ["severity", "subsystem", "label"] as const;

/** The filters without a field, each with the way to remove it. */
function ChosenWords({ visit }: { readonly visit: Visit }) {
  return (
    <>
      {UNLISTED.map((field) => {
        const value = visit.query(field);
        return value === undefined
          ? null
          : (
            <a class="badge accent" href={linkWith(visit, { [field]: undefined })}>
              {field}: {value} <span aria-hidden="true">×</span>
              <span class="hidden-text">: remove this filter</span>
            </a>
          );
      })}
    </>
  );
}

function TicketList({ visit, project, listed }: {
  readonly visit: Visit;
  readonly project: OpenProject;
  readonly listed: TicketListAnswer;
}) {
  const { tickets, page, total_pages } = listed;
  return (
    <div data-live-part="tickets" data-live-on="ticket claim strikes_forgotten">
      {tickets.length === 0
        ? <NoTickets visit={visit} project={project} />
        : (
          <ul class="list tickets" data-keys="list">
            {tickets.map((ticket) => (
              <TicketRow
                visit={visit}
                ticket={ticket}
                project={project}
                holding={holdingOf(visit, project, ticket.uuid)}
              />
            ))}
          </ul>
        )}
      <Pager visit={visit} page={page} pages={total_pages} />
    </div>
  );
}

function NoTickets(
  { visit, project }: { readonly visit: Visit; readonly project: OpenProject },
) {
  const isFiltered = visit.url.searchParams.size > 0;
  return (
    <Empty>
      <p>{isFiltered ? "No ticket matches these filters." : "There is no open ticket."}</p>
      {isFiltered
        ? <a href={visit.url.pathname}>Remove the filters</a>
        : project.mayWrite && <a href={`${project.base}/tickets/new`}>File the first one</a>}
    </Empty>
  );
}

function TicketRow({ visit, project, ticket, holding }: {
  readonly visit: Visit;
  readonly ticket: ListedTicket;
  readonly project: OpenProject;
  readonly holding: Holding;
}) {
  return (
    <li>
      <div class="row-title">
        <a href={`${project.base}/tickets/${ticket.uuid}`}>
          {ticket.title === "" ? "(without a title)" : ticket.title}
        </a>
        <TicketStatus status={ticket.status} />
        <TicketWords
          {...ticket}
          to={(field, value) => linkWith(visit, { [field]: value })}
        />
        <GivenWork {...{ visit, project, ticket }} to={(query) => linkWith(visit, query)} />
      </div>
      <div class="meta">
        <TicketName {...ticket} />
        <span>
          filed <Time at={ticket.created} />
        </span>
        {ticket.last_modified !== ticket.created && (
          <span>
            changed <Time at={ticket.last_modified} />
          </span>
        )}
        <TicketHolder {...{ visit, project }} {...holding} />
      </div>
    </li>
  );
}

/** Moves a ticket to another column of the board. */
async function move(visit: Visit): Promise<Leads> {
  const { slug } = openProject(visit);
  const [uuid, status] = [visit.entered("ticket"), visit.entered("status")];
  await visit.invoke(slug, changeTicket, { uuid, status });
  return { to: visit.url.pathname + visit.url.search };
}
