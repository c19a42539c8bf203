import { linkWith } from "../../parts/filters.tsx";
import { Form } from "../../parts/form.tsx";
import { GivenWork } from "../../parts/given_work.tsx";
import { Empty } from "../../parts/lists.tsx";
import { holdingOf, TicketHolder, TicketWords } from "../../parts/ticket_badges.tsx";
import type { OpenProject } from "../../project.ts";
import { type Query, type Visit, withQuery } from "../../visit.ts";
import { listTickets } from "../../../services/work/tickets/operations.ts";
import type { z } from "zod";
import type { ticketListSchema } from "../../../services/work/tickets/schemas.ts";
import { WORDS } from "../../parts/ticket_words.ts";

export type TicketListAnswer = z.output<typeof ticketListSchema>;
export type ListedTicket = TicketListAnswer["tickets"][number];

/** Cards of a column; the list has the rest. */
const CARDS = 25;

/** Columns that are there without a ticket, so that one can be moved to them. */
const ALWAYS: readonly string[] = ["Open", "Review", "Closed"];

/** Most columns; each one is a request. */
const MAX_COLUMNS = 12;

interface BoardOptions {
  readonly visit: Visit;
  readonly project: OpenProject;
  readonly filters: Query;
  /** The statuses of the matching tickets. */
  readonly all: TicketListAnswer;
}

/** The tickets of a project in columns by status. */
export async function Board({ visit, project, filters, all }: BoardOptions) {
  const statuses = columnsOf(all);
  const columns = await Promise.all(
    statuses.map((status) =>
      visit.invoke(project.slug, listTickets, {
        ...filters,
        status,
        sort: "modified",
        per_page: CARDS,
      })
    ),
  );
  if (all.total === 0) {
    return (
      <Empty>
        <p>There is no ticket to show on the board.</p>
      </Empty>
    );
  }
  return (
    <div
      class="ticket-board"
      data-board
      data-live-part="board"
      data-live-on="ticket claim strikes_forgotten"
    >
      {statuses.map((status, index) => (
        <section class="board-column" data-status={status} aria-label={status}>
          <h2>
            {status} <span class="soft">{columns[index]?.total ?? 0}</span>
          </h2>
          <ul data-keys="list">
            {columns[index]?.tickets.map((ticket) => (
              <Card visit={visit} project={project} ticket={ticket} statuses={statuses} />
            ))}
          </ul>
          <More visit={visit} status={status} total={columns[index]?.total ?? 0} />
        </section>
      ))}
    </div>
  );
}

/** The statuses in the usual order, and then the others, the most frequent first. */
function columnsOf({ statuses }: TicketListAnswer): string[] {
  const present = statuses.map(({ name }) => name).filter((name) => name !== "");
  const usual = WORDS.status.filter((name) => ALWAYS.includes(name) || present.includes(name));
  const others = present.filter((name) => !usual.some((one) => one === name));
  return [...usual, ...others].slice(0, MAX_COLUMNS);
}

function More({ visit, status, total }: {
  readonly visit: Visit;
  readonly status: string;
  readonly total: number;
}) {
  if (total <= CARDS) return null;
  const to = withQuery(visit.url.pathname, {
    ...Object.fromEntries(visit.url.searchParams),
    view: undefined,
    status,
  });
  return <a class="small" href={to}>{total - CARDS} more {status.toLowerCase()} tickets</a>;
}

function Card({ visit, project, ticket, statuses }: {
  readonly visit: Visit;
  readonly project: OpenProject;
  readonly ticket: ListedTicket;
  readonly statuses: readonly string[];
}) {
  const { uuid, number, title, status } = ticket;
  return (
    <li class="board-card" data-card={uuid} draggable={project.mayWrite}>
      <a href={`${project.base}/tickets/${uuid}`} title={title}>
        {title === "" ? "(without a title)" : title}
      </a>
      <div class="meta">
        {number !== null && <b>#{number}</b>}
        <TicketWords {...ticket} />
        <GivenWork {...{ visit, project, ticket }} to={(query) => linkWith(visit, query)} />
        <TicketHolder {...{ visit, project }} {...holdingOf(visit, project, uuid)} until={null} />
      </div>
      {project.mayWrite && (
        <details class="board-menu">
          <summary>Move</summary>
          <Form visit={visit} action="move" class="board-move">
            <input type="hidden" name="ticket" value={uuid} />
            <select name="status" aria-label={`Status of ${title}`}>
              {statuses.map((one) => (
                <option value={one} selected={one === status}>
                  {one}
                </option>
              ))}
            </select>
            <button type="submit">Move</button>
          </Form>
        </details>
      )}
    </li>
  );
}
