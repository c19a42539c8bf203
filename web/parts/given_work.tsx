import type { ticketRefSchema } from "../../services/work/tickets/schemas.ts";
import type { z } from "zod";
import type { OpenProject } from "../project.ts";
import type { Query, Visit } from "../visit.ts";
import { AccountName } from "./account_name.tsx";

type Given = Pick<
  z.output<typeof ticketRefSchema>,
  "assignee" | "labels" | "blocked_by" | "is_blocked"
>;

/** Most members that a field suggests. */
const MAX_MEMBERS = 200;

/** The names of a project's members, whom a ticket can be assigned to. */
export function membersOf(visit: Visit, { access: { held } }: OpenProject): readonly string[] {
  return visit.services.hosting.projects.members(held).map(({ name }) => name).sort()
    .slice(0, MAX_MEMBERS);
}

/** How people name a ticket for which another one waits. */
export function blockerName({ number, uuid }: Given["blocked_by"][number]): string {
  return number === null ? uuid.slice(0, 10) : `#${number}`;
}

/**
 * Who is to do a ticket, its labels, and the open tickets for which it waits.
 *
 * @param to the list of the tickets with the same label
 */
export function GivenWork({ visit, project, ticket, to }: {
  readonly visit: Visit;
  readonly project: OpenProject;
  readonly ticket: Given;
  readonly to: (query: Query) => string;
}) {
  const open = ticket.is_blocked ? ticket.blocked_by.filter((one) => !one.is_closed) : [];
  return (
    <>
      {ticket.labels.map((label) => (
        <a class="badge" href={to({ label })} title="Only this label">{label}</a>
      ))}
      {open.length > 0 && (
        <span class="badge warn">
          blocked by {open.map((blocker, index) => (
            <>
              {index > 0 && ", "}
              <a href={`${project.base}/tickets/${blocker.uuid}`}>{blockerName(blocker)}</a>
            </>
          ))}
        </span>
      )}
      {ticket.assignee !== "" && (
        <span>
          assigned to <AccountName {...{ visit, project }} name={ticket.assignee} />
        </span>
      )}
    </>
  );
}
